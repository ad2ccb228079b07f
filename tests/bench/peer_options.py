"""Code that the PyTorch peers share: their options, and measuring the rate of calls."""
import argparse, statistics, time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--only", default="")
parser.add_argument("--seconds", type=float, default=3.0)
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(0)


def wanted(name):
    return not options.only or name in options.only.split(",")


def emit(name, value, unit):
    print(f"{name:32s} {value:14.3f} {unit}", flush=True)


def rate(step, items, warm=2):
    """Items per second: the median of five windows after a warm-up."""
    for _ in range(warm):
        step()
    rates = []
    for _ in range(5):
        steps, begin = 0, time.perf_counter()
        while True:
            step()
            steps += 1
            seconds = time.perf_counter() - begin
            if seconds >= options.seconds / 5:
                break
        rates.append(steps * items / seconds)
    return statistics.median(rates)

"""Code that the PyTorch peers share: their options, and measuring the rate of calls."""
import argparse, statistics, time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--only", default="")
parser.add_argument("--seconds", type=float, default=3.0)
parser.add_argument("--batch", type=int, default=0, help="0: that of the workload")
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(0)


def wanted(name):
    return not options.only or name in options.only.split(",")


def emit(name, value, unit):
    print(f"{name:32s} {value:14.3f} {unit}", flush=True)


def rate(step, items, warm=2, steps=None):
    """Items per second: the median of five windows after a warm-up. A window has the number of
    steps if it is given, else a fifth of the seconds that were asked for."""
    for _ in range(warm):
        step()
    rates = []
    for _ in range(5):
        count, begin = 0, time.perf_counter()
        while True:
            step()
            count += 1
            seconds = time.perf_counter() - begin
            if count == steps or steps is None and seconds >= options.seconds / 5:
                break
        rates.append(count * items / seconds)
    return statistics.median(rates)

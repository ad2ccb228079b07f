#!/usr/bin/env python3
"""The workloads mobilenet and resnext in PyTorch, for tests/bench/compare.

Usage: peer_torch.py [--threads 2] [--only NAME[,NAME]] [--seconds S]
Prints "name value unit": the median of five windows after a warm-up, of the better memory format.
"""
import argparse, statistics, time

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--only", default="")
parser.add_argument("--seconds", type=float, default=3.0)
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(0)


def conv(cin, cout, kernel, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(cin, cout, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(cout))


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        blocks, cin = [conv(3, 32, 3), nn.ReLU()], 32
        for filters, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
            blocks += [conv(cin, cin, 3, stride, cin), nn.ReLU(), conv(cin, filters, 1), nn.ReLU()]
            cin = filters
        self.blocks, self.out = nn.Sequential(*blocks), nn.Linear(cin, 10)

    def forward(self, x):
        return self.out(self.blocks(x).mean((2, 3)))


class Grouped(nn.Module):
    def __init__(self, cin, width, stride):
        super().__init__()
        self.path = nn.Sequential(
            conv(cin, width, 1), nn.ReLU(), conv(width, width, 3, stride, 8), nn.ReLU(), conv(width, 2 * width, 1))
        self.short = conv(cin, 2 * width, 1, stride)

    def forward(self, x):
        return F.relu(self.path(x) + self.short(x))


class ResNeXt(nn.Module):
    def __init__(self):
        super().__init__()
        blocks, cin = [conv(3, 32, 3), nn.ReLU()], 32
        for width, stride in ((64, 1), (64, 1), (128, 2), (256, 2)):
            blocks.append(Grouped(cin, width, stride))
            cin = 2 * width
        self.blocks, self.out = nn.Sequential(*blocks), nn.Linear(cin, 10)

    def forward(self, x):
        return self.out(self.blocks(x).mean((2, 3)))


def rate(step, items, warm=2):
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


def images(batch, layout):
    return torch.rand(batch, 3, 32, 32).to(memory_format=layout)


def train(model, batch, layout):
    optimizer = torch.optim.SGD(model.parameters(), 0.1, 0.9)
    batches = [(images(batch, layout), torch.randint(0, 10, (batch,))) for _ in range(3)]
    turn = [0]

    def step():
        x, y = batches[turn[0] % 3]
        turn[0] += 1
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    return rate(step, batch)


def predict(model, batch, layout):
    x = images(batch, layout)
    with torch.inference_mode():
        frozen = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(model.eval(), x)))
        return max(rate(lambda: f(x), batch) for f in (model, frozen))


def wanted(name):
    return not options.only or name in options.only.split(",")


def emit(name, value, unit):
    print(f"{name:32s} {value:14.3f} {unit}", flush=True)


LAYOUTS = (torch.contiguous_format, torch.channels_last)
for network, make, batch in (("mobilenet", MobileNet, 128), ("resnext", ResNeXt, 64)):
    best = lambda measure, size: max(measure(make().to(memory_format=layout), size, layout) for layout in LAYOUTS)
    if wanted(network + "_train"):
        emit(network + "_train", best(train, batch), "samples/s")
    if wanted(network + "_predict_b1"):
        emit(network + "_predict_b1", 1e6 / best(predict, 1), "us/call")
    if wanted(network + "_predict_b256"):
        emit(network + "_predict_b256", best(predict, 256), "samples/s")

#!/usr/bin/env python3
"""Training by two processes of one thread in PyTorch (DistributedDataParallel over gloo), beside
tests/bench/scale --rates.

Usage: peer_torch_processes.py [--only NAME[,NAME]] [--seconds S] [--batch N]
Prints samples a second of mlp, cnn, resnet20 and transformer: "NAME_1_process" with one process,
"NAME_2_processes" with two that have a batch each; N is the batch of a process.
"""
import tempfile

import torch
import torch.distributed as distributed
import torch.multiprocessing as multiprocessing
import torch.nn.functional as F
from torch import nn

from peer_options import emit, options, rate, wanted


class Block(nn.Module):
    def __init__(self, cin, filters, stride):
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(cin, filters, 3, stride, 1), nn.BatchNorm2d(filters), nn.ReLU(),
            nn.Conv2d(filters, filters, 3, 1, 1), nn.BatchNorm2d(filters))
        self.short = nn.Conv2d(cin, filters, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        return F.relu(self.path(x) + self.short(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(8000, 128)
        self.positions = nn.Parameter(torch.zeros(64, 128))
        layer = nn.TransformerEncoderLayer(128, 4, 512, 0.0, batch_first=True)
        self.encoder, self.out = nn.TransformerEncoder(layer, 2), nn.Linear(128, 2)

    def forward(self, x):
        return self.out(self.encoder(self.words(x) + self.positions).mean(1))


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                         nn.Linear(512, 10))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Dropout(.25), nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(.5),
        nn.Linear(128, 10))


def resnet20():
    layers, cin = [nn.Conv2d(3, 16, 3, 1, 1), nn.BatchNorm2d(16), nn.ReLU()], 16
    for filters in (16, 32, 64):
        for i in range(3):
            layers.append(Block(cin, filters, 2 if filters > 16 and i == 0 else 1))
            cin = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def adam(weights):
    return torch.optim.Adam(weights)


def momentum(weights):
    return torch.optim.SGD(weights, .1, .9)


def uniform(*shape):
    return lambda batch: torch.rand(batch, *shape)


def words(batch):
    return torch.randint(0, 8000, (batch, 64))


# model, inputs, classes, optimizer, batch
WORKLOADS = {
    "mlp": (mlp, uniform(784), 10, adam, 128),
    "cnn": (cnn, uniform(1, 28, 28), 10, adam, 128),
    "resnet20": (resnet20, uniform(3, 32, 32), 10, momentum, 128),
    "transformer": (Transformer, words, 2, adam, 32),
}


def samples_per_second(name, processes, steps=None):
    """The rate of this process, which takes the given number of steps a window."""
    make_model, inputs, classes, make_optimizer, batch = WORKLOADS[name]
    batch = options.batch or batch
    model = make_model()
    if processes > 1:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = make_optimizer(model.parameters())
    x, y = inputs(batch), torch.randint(0, classes, (batch,))

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    return rate(step, batch, steps=steps)


def run_process(rank, name, processes, steps, address, results):
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=processes)
    results[rank] = samples_per_second(name, processes, steps)
    distributed.destroy_process_group()


def main():
    torch.set_num_threads(1)
    for name, workload in WORKLOADS.items():
        if not wanted(name):
            continue
        alone = samples_per_second(name, 1)
        emit(f"{name}_1_process", alone, "samples/s")
        steps = max(3, round(options.seconds / 5 * alone / (options.batch or workload[4])))
        with tempfile.TemporaryDirectory() as folder, multiprocessing.Manager() as manager:
            results = manager.dict()
            multiprocessing.spawn(
                run_process, (name, 2, steps, f"file://{folder}/rendezvous", results), 2)
            emit(f"{name}_2_processes", sum(results.values()), "samples/s")


if __name__ == "__main__":
    main()

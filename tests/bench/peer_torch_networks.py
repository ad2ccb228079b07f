#!/usr/bin/env python3
"""The workloads resnet50, efficientnet, unet, gpt and big_mlp in PyTorch, for tests/bench/compare.

Usage: peer_torch_networks.py [--threads 2] [--only NAME[,NAME]] [--seconds S]
Prints "name value unit": the median of five windows after a warm-up, of the better memory format
for networks of images.
"""
import torch
import torch.nn.functional as F
from torch import nn

from peer_options import emit, rate, wanted


def conv(cin, cout, kernel, stride=1, groups=1):
    convolution = nn.Conv2d(cin, cout, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(cout))


class Bottleneck(nn.Module):
    def __init__(self, cin, width, stride, projects):
        super().__init__()
        self.path = nn.Sequential(
            conv(cin, width, 1), nn.ReLU(), conv(width, width, 3, stride), nn.ReLU(),
            conv(width, 4 * width, 1))
        self.short = conv(cin, 4 * width, 1, stride) if projects else nn.Identity()

    def forward(self, x):
        return F.relu(self.path(x) + self.short(x))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        blocks, cin = [conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
        for stage, count in enumerate((3, 4, 6, 3)):
            width = 64 << stage
            for i in range(count):
                blocks.append(Bottleneck(cin, width, 2 if stage > 0 and i == 0 else 1, i == 0))
                cin = 4 * width
        self.blocks, self.out = nn.Sequential(*blocks), nn.Linear(cin, 1000)

    def forward(self, x):
        return self.out(self.blocks(x).mean((2, 3)))


class InvertedBottleneck(nn.Module):
    def __init__(self, cin, expansion, cout, kernel, stride):
        super().__init__()
        width = cin * expansion
        self.expand = (nn.Sequential(conv(cin, width, 1), nn.SiLU()) if expansion > 1
                       else nn.Identity())
        self.depthwise = nn.Sequential(conv(width, width, kernel, stride, width), nn.SiLU())
        self.weights = nn.Sequential(
            nn.Conv2d(width, cin // 4, 1), nn.SiLU(), nn.Conv2d(cin // 4, width, 1), nn.Sigmoid())
        self.project = conv(width, cout, 1)
        self.adds = stride == 1 and cin == cout

    def forward(self, x):
        y = self.depthwise(self.expand(x))
        y = self.project(y * self.weights(y.mean((2, 3), keepdim=True)))
        return x + y if self.adds else y


class EfficientNet(nn.Module):
    STAGES = ((1, 16, 1, 3, 1), (6, 24, 2, 3, 2), (6, 40, 2, 5, 2), (6, 80, 3, 3, 2),
              (6, 112, 3, 5, 1), (6, 192, 4, 5, 2), (6, 320, 1, 3, 1))

    def __init__(self):
        super().__init__()
        blocks, cin = [conv(3, 32, 3, 2), nn.SiLU()], 32
        for expansion, cout, count, kernel, stride in self.STAGES:
            for i in range(count):
                blocks.append(
                    InvertedBottleneck(cin, expansion, cout, kernel, stride if i == 0 else 1))
                cin = cout
        self.blocks = nn.Sequential(*blocks, conv(cin, 1280, 1), nn.SiLU())
        self.out = nn.Linear(1280, 1000)

    def forward(self, x):
        return self.out(self.blocks(x).mean((2, 3)))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        double = lambda cin, cout: nn.Sequential(
            conv(cin, cout, 3), nn.ReLU(), conv(cout, cout, 3), nn.ReLU())
        widths = (32, 64, 128)
        self.down = nn.ModuleList(double(a, b) for a, b in zip((3, 32, 64), widths))
        self.middle = double(128, 256)
        self.enlarge = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in widths)
        self.up = nn.ModuleList(double(2 * w, w) for w in widths)
        self.out = nn.Conv2d(32, 4, 1)

    def forward(self, x):
        skips = []
        for block in self.down:
            skips.append(block(x))
            x = F.max_pool2d(skips[-1], 2)
        x = self.middle(x)
        for i in (2, 1, 0):
            x = self.up[i](torch.cat((skips[i], self.enlarge[i](x)), 1))
        return self.out(x)


class CausalBlock(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.attention = nn.MultiheadAttention(width, heads, dropout, batch_first=True)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, later):
        y = self.norms[0](x)
        x = x + self.dropout(self.attention(y, y, y, attn_mask=later, need_weights=False)[0])
        return x + self.dropout(self.narrow(F.gelu(self.wide(self.norms[1](x)))))


class Gpt(nn.Module):
    TOKENS, STEPS, WIDTH = 8000, 256, 384

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(self.TOKENS, self.WIDTH)
        self.positions = nn.Parameter(torch.zeros(self.STEPS, self.WIDTH))
        self.blocks = nn.ModuleList(CausalBlock(self.WIDTH, 6, 0.1) for _ in range(4))
        self.dropout, self.norm = nn.Dropout(0.1), nn.LayerNorm(self.WIDTH)
        self.out = nn.Linear(self.WIDTH, self.TOKENS)
        later = torch.ones(self.STEPS, self.STEPS, dtype=torch.bool).triu(1)
        self.register_buffer("later", later)

    def forward(self, x):
        x = self.dropout(self.embedding(x) + self.positions)
        for block in self.blocks:
            x = block(x, self.later)
        return self.out(self.norm(x))


def perceptron():
    hidden = [layer for _ in range(3) for layer in (nn.Linear(2048, 2048), nn.ReLU())]
    return nn.Sequential(*hidden, nn.Linear(2048, 1000))


def train(model, make_optimizer, x, y):
    optimizer = make_optimizer(model.parameters())

    def step():
        optimizer.zero_grad(set_to_none=True)
        logits = model(x)
        classes_last = logits.flatten(0, 1) if y.dim() == 2 else logits  # a text: (batch, steps)
        F.cross_entropy(classes_last, y.flatten() if y.dim() == 2 else y).backward()
        optimizer.step()

    return rate(step, len(x))


def predict(model, x):
    with torch.inference_mode():
        traced = torch.jit.trace(model.eval(), x)
        frozen = torch.jit.optimize_for_inference(torch.jit.freeze(traced))
        return max(rate(lambda: f(x), len(x)) for f in (model, frozen))


def momentum(parameters):
    return torch.optim.SGD(parameters, 0.1, 0.9)


def image(size):
    return lambda n: torch.rand(n, 3, size, size)


def numbers(limit, *shape):
    return lambda n: torch.randint(0, limit, (n, *shape))


# name, model, optimizer, inputs, labels, batch size of training, batch sizes of prediction
NETWORKS = (
    ("resnet50", ResNet50, momentum, image(224), numbers(1000), 16, (1, 32)),
    ("efficientnet", EfficientNet, momentum, image(224), numbers(1000), 16, (1, 32)),
    ("unet", UNet, torch.optim.Adam, image(128), numbers(4, 128, 128), 8, (1, 32)),
    ("gpt", Gpt, torch.optim.Adam, numbers(8000, 256), numbers(8000, 256), 8, (1,)),
    ("big_mlp", perceptron, torch.optim.Adam, lambda n: torch.rand(n, 2048), numbers(1000), 512,
     (1, 32, 256)),
)


def best(measure, make, x):
    """The rate in the better memory format, if the inputs are images."""
    if x.dim() < 4:
        return measure(make(), x)
    formats = (torch.contiguous_format, torch.channels_last)
    return max(measure(make().to(memory_format=f), x.to(memory_format=f)) for f in formats)


for name, make, optimizer, inputs, labels, batch, sizes in NETWORKS:
    if wanted(name + "_train"):
        y = labels(batch)
        emit(name + "_train", best(lambda m, x: train(m, optimizer, x, y), make, inputs(batch)),
             "samples/s")
    for size in sizes:
        full_name = f"{name}_predict_b{size}"
        if wanted(full_name):
            speed = best(predict, make, inputs(size))
            emit(full_name, 1e6 / speed if size == 1 else speed,
                 "us/call" if size == 1 else "samples/s")

#!/usr/bin/env python3
"""The workloads mobilenet, resnext and those of sequences.lua in PyTorch, for tests/bench/compare.

Usage: peer_torch.py [--threads 2] [--only NAME[,NAME]] [--seconds S]
Prints "name value unit": the median of five windows after a warm-up, of the better memory format.
"""
import torch
import torch.nn.functional as F
from torch import nn

from peer_options import emit, rate, wanted


def conv(cin, cout, kernel, stride=1, groups=1):
    convolution = nn.Conv2d(cin, cout, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(cout))


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        blocks, cin = [conv(3, 32, 3), nn.ReLU()], 32
        shapes = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1))
        for filters, stride in shapes:
            blocks += [conv(cin, cin, 3, stride, cin), nn.ReLU(), conv(cin, filters, 1), nn.ReLU()]
            cin = filters
        self.blocks, self.out = nn.Sequential(*blocks), nn.Linear(cin, 10)

    def forward(self, x):
        return self.out(self.blocks(x).mean((2, 3)))


class Grouped(nn.Module):
    def __init__(self, cin, width, stride):
        super().__init__()
        self.path = nn.Sequential(
            conv(cin, width, 1), nn.ReLU(), conv(width, width, 3, stride, 8), nn.ReLU(),
            conv(width, 2 * width, 1))
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
        traced = torch.jit.trace(model.eval(), x)
        frozen = torch.jit.optimize_for_inference(torch.jit.freeze(traced))
        return max(rate(lambda: f(x), batch) for f in (model, frozen))


LAYOUTS = (torch.contiguous_format, torch.channels_last)
for network, make, batch in (("mobilenet", MobileNet, 128), ("resnext", ResNeXt, 64)):
    best = lambda measure, size: max(
        measure(make().to(memory_format=layout), size, layout) for layout in LAYOUTS)
    if wanted(network + "_train"):
        emit(network + "_train", best(train, batch), "samples/s")
    if wanted(network + "_predict_b1"):
        emit(network + "_predict_b1", 1e6 / best(predict, 1), "us/call")
    if wanted(network + "_predict_b256"):
        emit(network + "_predict_b256", best(predict, 256), "samples/s")


# ---- sequences.lua
WORDS, WIDTH, STEPS = 80, 128, 512


class Text(nn.Module):
    """Embedding, a recurrent layer, Dense; with lengths, steps of padding are skipped."""

    def __init__(self, layer, masked=False):
        super().__init__()
        self.embedding, self.layer, self.masked = nn.Embedding(20000, WIDTH), layer, masked
        self.out = nn.Linear(WIDTH * (2 if layer.bidirectional else 1), 1)

    def forward(self, x):
        y = self.embedding(x)
        if self.masked:
            lengths = (x != 0).sum(1)
            y = nn.utils.rnn.pack_padded_sequence(
                y, lengths, batch_first=True, enforce_sorted=False)
        h = self.layer(y)[1]
        h = h[0] if isinstance(h, tuple) else h
        return self.out(torch.cat(list(h), 1))


class LoopedText(nn.Module):
    """The same with steps in Python, because PyTorch has no such layers: an LSTM with one dropout
    mask of the states for all steps, and a GRU that resets its state before the product."""

    def __init__(self, gates):
        super().__init__()
        self.embedding, self.out = nn.Embedding(20000, WIDTH), nn.Linear(WIDTH, 1)
        self.of_input = nn.Linear(WIDTH, gates * WIDTH)
        self.of_state = nn.Linear(WIDTH, gates * WIDTH, bias=False)
        self.step = {3: self.gru, 4: self.lstm}[gates]

    def lstm(self, z, h, c, kept):
        i, f, g, o = (z + self.of_state(h * kept)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    def gru(self, z, h, c, kept):
        own, weight = z.chunk(3, 1), self.of_state.weight
        keep, reset = torch.sigmoid(
            torch.cat(own[:2], 1) + F.linear(h, weight[:2 * WIDTH])).chunk(2, 1)
        new = torch.tanh(own[2] + F.linear(reset * h, weight[2 * WIDTH:]))
        return keep * h + (1 - keep) * new, c

    def forward(self, x):
        z = self.of_input(self.embedding(x))
        h = c = z.new_zeros(x.shape[0], WIDTH)
        kept = F.dropout(torch.ones_like(h), 0.2)
        for t in range(x.shape[1]):
            h, c = self.step(z[:, t], h, c, kept)
        return self.out(h)


class ConvLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates, self.out = nn.Conv2d(4 + 16, 64, 3, padding=1), nn.Linear(16, 1)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], 16, *x.shape[3:])
        for t in range(x.shape[1]):
            i, f, g, o = self.gates(torch.cat((x[:, t], h), 1)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return self.out(h.mean((2, 3)))


class Attended(nn.Module):
    def __init__(self, dropout=0.0, causal=False, padded=False):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, 4, dropout, batch_first=True)
        self.out = nn.Linear(WIDTH, 1)
        self.hidden = torch.ones(STEPS, STEPS, dtype=torch.bool).triu(1) if causal else None
        self.padded = padded

    def forward(self, x):
        padding = (x == 0).all(2) if self.padded else None
        y = self.attention(x, x, x, key_padding_mask=padding, attn_mask=self.hidden,
                           need_weights=False)[0]
        return self.out(y.mean(1))


def train_on(model, batches, loss, batch):
    optimizer, turn = torch.optim.Adam(model.parameters()), [0]

    def step():
        x, y = batches[turn[0] % len(batches)]
        turn[0] += 1
        optimizer.zero_grad(set_to_none=True)
        loss(model(x), y).backward()
        optimizer.step()

    return rate(step, batch)


def texts():
    batches = []
    for _ in range(4):
        lengths = torch.randint(WORDS // 2, WORDS + 1, (32, 1))
        words = torch.randint(1, 20000, (32, WORDS)) * (torch.arange(WORDS) < lengths)
        batches.append((words, torch.randint(0, 2, (32, 1)).float()))
    return batches


def padded(batch):
    lengths = torch.randint(STEPS // 2, STEPS + 1, (batch, 1, 1))
    return torch.rand(batch, STEPS, WIDTH) * (torch.arange(STEPS).view(1, STEPS, 1) < lengths)


for name, make in {
    "lstm_plain": lambda: Text(nn.LSTM(WIDTH, WIDTH, batch_first=True)),
    "lstm_masked": lambda: Text(nn.LSTM(WIDTH, WIDTH, batch_first=True), True),
    "bidirectional": lambda: Text(nn.LSTM(WIDTH, WIDTH, batch_first=True, bidirectional=True)),
    "lstm_recurrent_dropout": lambda: LoopedText(4),
    "gru_reset_before": lambda: LoopedText(3),
    "simple_rnn": lambda: Text(nn.RNN(WIDTH, WIDTH, batch_first=True)),
}.items():
    if wanted(name + "_train"):
        emit(name + "_train", train_on(make(), texts(), F.binary_cross_entropy_with_logits, 32),
             "samples/s")
if wanted("convlstm_train"):
    batches = [(torch.rand(16, 8, 4, 24, 24), torch.rand(16, 1)) for _ in range(2)]
    emit("convlstm_train", train_on(ConvLSTM(), batches, F.mse_loss, 16), "samples/s")
for name, make, data in (
    ("attention_full", lambda: Attended(), lambda n: torch.rand(n, STEPS, WIDTH)),
    ("attention_causal", lambda: Attended(causal=True), lambda n: torch.rand(n, STEPS, WIDTH)),
    ("attention_padded", lambda: Attended(padded=True), padded),
    ("attention_dropout", lambda: Attended(dropout=0.1), lambda n: torch.rand(n, STEPS, WIDTH)),
):
    if wanted(name + "_train"):
        batches = [(data(8), torch.rand(8, 1)) for _ in range(2)]
        emit(name + "_train", train_on(make(), batches, F.mse_loss, 8), "samples/s")

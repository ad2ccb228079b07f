#!/usr/bin/env python3
"""The functions of workloads/ops.lua in PyTorch, for tests/bench/compare.

Usage: peer_torch_ops.py [--threads 2] [--only NAME[,NAME]] [--seconds S]
Prints "name value unit": the median of five windows after a warm-up.
"""
import torch
import torch.nn.functional as F

from peer_options import emit, rate, wanted


def numbers(*shape):
    return lambda: torch.randn(*shape)


def integers(limit, *shape):
    return lambda: torch.randint(0, limit, shape)


plane, cube = numbers(4096, 1024), numbers(64, 256, 256)
images, signals = numbers(16, 3, 256, 256), numbers(64, 16384)


def whole(limit, *shape):
    return lambda: torch.randint(0, limit, shape, dtype=torch.int32)


def pixels():
    return torch.randint(0, 255, (4096, 1024), dtype=torch.uint8)


def below_one():
    return torch.rand(4096, 1024) * 2 - 1


def updated(x, part):
    result = x.clone()
    result[100:612, 100:612] = part
    return result


def channels_last(*shape):
    return lambda: torch.randn(*shape).contiguous(memory_format=torch.channels_last)


def positive():
    return plane().abs()


def half():
    return plane() > 0


def definite():
    x = torch.randn(2048, 16, 16)
    return x @ x.transpose(1, 2) + torch.eye(16)


def grid():
    turn = torch.tensor([[[0.9, 0.1, 0.03], [-0.1, 0.9, 0.05]]]).repeat(16, 1, 1)
    return F.affine_grid(turn, (16, 3, 256, 256), align_corners=False)


# name, MiB that must be read and written, function, functions that make its arguments
ROWS = (
    ("copy", 32, lambda x: x + 0.5, plane),
    ("sqrt", 32, torch.sqrt, positive),
    ("exp", 32, torch.exp, plane),
    ("log", 32, torch.log, positive),
    ("tanh", 32, torch.tanh, plane),
    ("sin", 32, torch.sin, plane),
    ("gelu", 32, lambda x: F.gelu(x, approximate="tanh"), plane),
    ("sigmoid", 32, torch.sigmoid, plane),
    ("gelu_exact", 32, F.gelu, plane),
    ("clip", 32, lambda x: x.clamp(-1, 1), plane),
    ("cast_to_int", 32, lambda x: x.to(torch.int32), plane),
    ("cast_to_bfloat16", 24, lambda x: x.to(torch.bfloat16), plane),
    ("add", 48, torch.add, plane, plane),
    ("add_row", 32, torch.add, plane, numbers(1024)),
    ("add_column", 32, torch.add, plane, numbers(4096, 1)),
    ("power", 48, torch.pow, positive, plane),
    ("greater", 36, torch.gt, plane, plane),
    ("where", 52, torch.where, half, plane, plane),
    ("sum_all", 16, torch.sum, cube),
    ("sum_first", 16, lambda x: x.sum(0), cube),
    ("sum_middle", 16, lambda x: x.sum(1), cube),
    ("sum_last", 16, lambda x: x.sum(2), cube),
    ("max_first", 16, lambda x: x.amax(0), cube),
    ("max_last", 16, lambda x: x.amax(2), cube),
    ("prod_last", 16, lambda x: x.prod(2), cube),
    ("any_last", 4, lambda x: x.any(2), lambda: cube() < -5),
    ("var_last", 16, lambda x: x.var(2), cube),
    ("argmax_first", 16, lambda x: x.argmax(0), cube),
    ("argmax_last", 16, lambda x: x.argmax(2), cube),
    ("argmin_middle", 16, lambda x: x.argmin(1), cube),
    ("softmax_last", 32, lambda x: x.softmax(-1), plane),
    ("softmax_first", 32, lambda x: x.softmax(0), plane),
    ("logsumexp", 16, lambda x: x.logsumexp(1), plane),
    ("cumsum_last", 32, lambda x: x.cumsum(1), plane),
    ("cumsum_first", 32, lambda x: x.cumsum(0), plane),
    ("cumprod_last", 32, lambda x: x.cumprod(1), plane),
    ("transpose", 32, lambda x: x.t().contiguous(), plane),
    ("transpose_images", 32, lambda x: x.permute(0, 2, 1).contiguous(), cube),
    ("concatenate", 64, lambda x, y: torch.cat([x, y], 1), plane, plane),
    ("stack", 64, lambda x, y: torch.stack([x, y], -1), plane, plane),
    ("repeat", 32, lambda x: x.repeat_interleave(4, 1), numbers(1024, 1024)),
    ("tile", 32, lambda x: x.repeat(2, 2), numbers(1024, 1024)),
    ("pad", 32, lambda x: F.pad(x, (1, 1, 1, 1)), plane),
    ("flip", 32, lambda x: x.flip(1), plane),
    ("roll", 32, lambda x: x.roll(7, 1), plane),
    ("take_rows", 32, lambda x, i: x.index_select(0, i), plane, integers(4096, 4096)),
    ("take_columns", 32, lambda x, i: x.index_select(1, i), plane, integers(1024, 1024)),
    ("take_along", 48, lambda x, i: x.gather(1, i), plane, integers(1024, 4096, 1024)),
    ("one_hot", 16, lambda i: F.one_hot(i, 1024), integers(1024, 4096)),
    ("segment_sum", 16, lambda x, i: torch.zeros(64, 1024).index_add(0, i, x), plane,
     integers(64, 4096)),
    ("sort_last", 32, lambda x: x.sort(-1)[0], plane),
    ("sort_all", 32, lambda x: x.reshape(-1).sort()[0], plane),
    ("argsort_last", 32, lambda x: x.argsort(-1), plane),
    ("top_k_10", 16, lambda x: x.topk(10)[0], plane),
    ("searchsorted", 32, torch.searchsorted, lambda: torch.randn(1000).sort()[0], plane),
    ("bincount", 16, torch.bincount, integers(1000, 4194304)),
    ("histogram", 16, lambda x: torch.histc(x, 100), plane),
    ("unique", 2, torch.unique, integers(1000, 524288)),
    ("fft", 64, torch.fft.fft, lambda: torch.complex(plane(), plane())),
    ("rfft", 32, torch.fft.rfft, plane),
    ("stft", 36, lambda x: torch.stft(x, 256, 128, window=torch.hann_window(256),
                                      return_complex=True), signals),
    ("resize_bilinear", 15, lambda x: F.interpolate(x, (128, 128), mode="bilinear"), images),
    ("affine_images", 24, lambda x, g: F.grid_sample(x, g, align_corners=False), images, grid),
    ("map_coordinates", 12, lambda x, g: F.grid_sample(x, g, align_corners=True),
     numbers(1, 1, 1024, 1024), lambda: torch.rand(1, 1024, 1024, 2) * 2 - 1),
    ("matmul_odd", 3, torch.matmul, numbers(517, 509), numbers(509, 511)),
    ("einsum", 24, lambda x, y: torch.einsum("bqhd,bkhd->bhqk", x, y),
     numbers(8, 256, 8, 64), numbers(8, 256, 8, 64)),
    ("solve", 5, torch.linalg.solve, numbers(2048, 16, 16), numbers(2048, 16, 4)),
    ("inv", 4, torch.linalg.inv, numbers(2048, 16, 16)),
    ("cholesky", 4, torch.linalg.cholesky, definite),
    ("eigh", 4, torch.linalg.eigh, definite),
    ("svd", 4, lambda x: torch.linalg.svd(x, full_matrices=False), numbers(2048, 16, 16)),
    ("qr", 4, torch.linalg.qr, numbers(2048, 16, 16)),
    ("solve_one", 4, torch.linalg.solve, numbers(512, 512), numbers(512, 512)),
    ("random_normal", 16, plane),
    ("erf", 32, torch.erf, plane),
    ("tan", 32, torch.tan, plane),
    ("arcsin", 32, torch.asin, below_one),
    ("arctan", 32, torch.atan, plane),
    ("sinh", 32, torch.sinh, plane),
    ("arctan2", 48, torch.atan2, plane, plane),
    ("mod", 48, torch.remainder, plane, plane),
    ("power_2", 32, lambda x: x ** 2, plane),
    ("bitwise_and", 48, torch.bitwise_and, whole(100, 4096, 1024), whole(100, 4096, 1024)),
    ("greater_bytes", 12, torch.gt, pixels, pixels),
    ("cast_from_bytes", 20, lambda x: x.float(), pixels),
    ("nansum", 16, torch.nansum, plane),
    ("norm_last", 16, lambda x: x.norm(dim=1), plane),
    ("median", 4, lambda x: x.quantile(0.5, 1), numbers(1024, 1024)),
    ("diff", 32, lambda x: x.diff(), plane),
    ("outer", 16, torch.outer, numbers(4096), numbers(1024)),
    ("matvec", 16, torch.matmul, plane, numbers(1024)),
    ("dot", 32, torch.dot, numbers(4194304), numbers(4194304)),
    ("cdist", 16, torch.cdist, numbers(2048, 64), numbers(2048, 64)),
    ("batch_norm", 32, lambda x, m, v, b, g: F.batch_norm(x, m, v, g, b),
     numbers(16, 64, 64, 64), numbers(64), lambda: torch.rand(64) + 1, numbers(64), numbers(64)),
    ("layer_norm", 32, lambda x, g, b: F.layer_norm(x, (1024,), g, b), plane, numbers(1024),
     numbers(1024)),
    ("arange", 16, lambda: torch.arange(0, 4194304, 1, dtype=torch.float32)),
    ("eye", 16, lambda: torch.eye(2048)),
    ("diag", 16, torch.diag, numbers(2048)),
    ("tril", 32, torch.tril, numbers(2048, 2048)),
    ("broadcast_column", 16, lambda x: x.expand(4096, 1024).contiguous(), numbers(4096, 1)),
    ("tile_narrow", 17, lambda x: x.repeat(1, 64), numbers(65536, 1)),
    ("stack_three", 24, lambda *x: torch.stack(x, -1), numbers(1048576), numbers(1048576),
     numbers(1048576)),
    ("concatenate_narrow", 16, lambda x, y: torch.cat([x, y], -1), numbers(262144, 3),
     numbers(262144, 5)),
    ("channels_first", 24, lambda x: x.permute(0, 3, 1, 2).contiguous(), numbers(16, 256, 256, 3)),
    ("rot90", 32, lambda x: x.rot90(), numbers(2048, 2048)),
    ("pad_reflect", 32, lambda x: F.pad(x, (2, 2), "reflect"), plane),
    ("extract_patches", 24, lambda x: F.unfold(x, 8, stride=8), images),
    ("slice_update", 36, updated, plane, numbers(512, 512)),
    ("segment_sum_flat", 16, lambda x, i: torch.zeros(1000).index_add(0, i, x), numbers(2097152),
     integers(1000, 2097152)),
    ("bincount_weights", 16, torch.bincount, integers(1000, 2097152), numbers(2097152)),
    ("isin", 2, torch.isin, whole(10000, 524288), whole(10000, 1000)),
    ("fft_odd", 32, torch.fft.fft,
     lambda: torch.complex(torch.randn(2048, 1000), torch.randn(2048, 1000))),
    ("zeros", 16, lambda: torch.zeros(4096, 1024)),
    ("add_32k", 0.375, torch.add, numbers(32768), numbers(32768)),
    ("hard_silu", 32, F.hardswish, plane),
    ("isclose", 36, torch.isclose, plane, plane),
    ("extract_overlapping", 24, lambda x: F.unfold(x, 3), numbers(4, 3, 128, 128)),
    ("irfft", 32, torch.fft.irfft, lambda: torch.complex(*torch.randn(2, 4096, 513))),
    ("unfold", 24, lambda x: F.unfold(x, 8, stride=8), images),
    ("unfold_overlapping", 24, lambda x: F.unfold(x, 3), numbers(4, 3, 128, 128)),
    ("isin_few", 2, torch.isin, whole(10000, 524288), whole(10000, 8)),
    ("isin_fractions", 2, torch.isin, numbers(524288), numbers(1000)),
    ("unique_inverse", 2, lambda x: torch.unique(x, return_inverse=True),
     integers(1000, 524288)),
    ("upsampling", 31, lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
     channels_last(8, 64, 56, 56)),
    ("resizing", 15, lambda x: F.interpolate(x, (128, 128), mode="bilinear"), images),
    ("inv_one", 2, torch.linalg.inv, numbers(512, 512)),
    ("solve_column", 1, torch.linalg.solve, numbers(512, 512), numbers(512, 1)),
    ("svd_tiny", 1, lambda x: torch.linalg.svd(x, full_matrices=False), numbers(2048, 8, 8)),
    ("mean_all", 16, torch.mean, plane),
    ("min_last", 16, lambda x: x.amin(1), plane),
    ("std_all", 16, lambda x: x.std(unbiased=False), plane),
    ("std_first", 16, lambda x: x.std(0, unbiased=False), plane),
    ("prod_first", 16, lambda x: x.prod(0), plane),
    ("ptp_first", 16, lambda x: x.amax(0) - x.amin(0), plane),
    ("norm_all", 16, torch.norm, plane),
    ("norm_first", 16, lambda x: x.norm(dim=0), plane),
    ("norm_1_last", 16, lambda x: x.norm(p=1, dim=1), plane),
    ("logsumexp_first", 16, lambda x: x.logsumexp(0), plane),
    ("nansum_first", 16, lambda x: x.nansum(0), plane),
    ("nanmean_last", 16, lambda x: x.nanmean(1), plane),
    ("count_nonzero", 16, torch.count_nonzero, plane),
    ("average_last", 32, lambda x, w: (x * w).sum(1) / w.sum(1), plane, plane),
    ("sum_whole_first", 16, lambda x: x.sum(0), whole(100, 4096, 1024)),
    ("sum_bfloat16_last", 8, lambda x: x.sum(1), lambda: plane().bfloat16()),
    ("cumsum_all", 32, lambda x: x.reshape(-1).cumsum(0), plane),
    ("diff_first", 32, lambda x: x.diff(dim=0), plane),
    ("median_all", 16, torch.median, plane),
    ("abs", 32, torch.abs, plane),
    ("sign", 32, torch.sign, plane),
    ("floor", 32, torch.floor, plane),
    ("round", 32, torch.round, plane),
    ("log1p", 32, torch.log1p, positive),
    ("expm1", 32, torch.expm1, plane),
    ("softplus", 32, F.softplus, plane),
    ("silu", 32, F.silu, plane),
    ("leaky_relu", 32, lambda x: F.leaky_relu(x, 0.2), plane),
    ("soft_shrink", 32, F.softshrink, plane),
    ("glu", 24, F.glu, plane),
    ("isnan", 20, torch.isnan, plane),
    ("divide", 48, torch.divide, plane, plane),
    ("maximum", 48, torch.maximum, plane, plane),
    ("erfinv", 32, torch.erfinv, below_one),
)


for row in ROWS:
    name, mebibytes, function = "op_" + row[0], row[1], row[2]
    if wanted(name):
        inputs = [make() for make in row[3:]]
        emit(name, rate(lambda: function(*inputs), mebibytes * 2**20 / 1e9, warm=1), "GB/s")

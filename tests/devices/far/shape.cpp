// Ops that only move elements: transpose, slice, broadcast, gather, scatter.
#include <algorithm>
#include <cstring>

#include "kernels.h"

namespace crescent::far {
namespace {

void copy_element(std::byte* to, int64_t i, const std::byte* from, int64_t j, size_t bytes) {
  std::memcpy(to + static_cast<size_t>(i) * bytes, from + static_cast<size_t>(j) * bytes, bytes);
}

/// A kernel that computes out[i] = in[first + strides . i].
Kernel move(const Request& r, const Strides& strides, int64_t first = 0) {
  return [=, shape = r.out[0].shape, bytes = size_of(r.out[0].dtype)](const std::byte* const* x,
                                                                      std::byte* const* y) {
    for_each_element(shape, Operands<1>{strides}, [&](int64_t i, const auto& at) {
      copy_element(y[0], i, x[0], first + at[0], bytes);
    });
  };
}

Kernel transpose(const Transpose& op, const Request& r) {
  const Strides from = strides_of(r.in[0].shape);
  Strides strides{};
  for (size_t i = 0; i < op.axes.size(); ++i) strides[i] = from[static_cast<size_t>(op.axes[i])];
  return move(r, strides);
}

Kernel slice(const Slice& op, const Request& r) {
  Strides strides = strides_of(r.in[0].shape);
  int64_t first = 0;
  for (size_t i = 0; i < op.start.size(); ++i) {
    first += op.start[i] * strides[i];
    strides[i] *= op.stride.empty() ? 1 : op.stride[i];
  }
  return move(r, strides, first);
}

Kernel pad(const Pad& op, const Request& r) {
  const Elements out(r.out[0].dtype);
  Strides strides = strides_of(r.out[0].shape);
  int64_t first = 0;
  for (size_t i = 0; i < op.before.size(); ++i) {
    first += op.before[i] * strides[i];
    strides[i] *= 1 + (op.inner.empty() ? 0 : op.inner[i]);
  }
  return [=, value = op.value, size = r.out[0].shape.size(), shape = r.in[0].shape](
             const std::byte* const* x, std::byte* const* y) {
    for (int64_t i = 0; i < size; ++i) out.set_real(y[0], i, value);
    for_each_element(shape, Operands<1>{strides}, [&](int64_t i, const auto& at) {
      copy_element(y[0], first + at[0], x[0], i, out.bytes);
    });
  };
}

Kernel join(const Concat& op, const Request& r) {
  const AxisView view(r.out[0].shape, op.axis);
  const size_t bytes = size_of(r.out[0].dtype);
  std::vector<size_t> piece_bytes;  // number of bytes of each input per index of the outer axes
  for (const TensorSpec& in : r.in)
    piece_bytes.push_back(static_cast<size_t>(in.shape[op.axis] * view.inner_size) * bytes);
  return [=](const std::byte* const* x, std::byte* const* y) {
    std::byte* to = y[0];
    for (int64_t outer_index = 0; outer_index < view.outer_size; ++outer_index) {
      for (size_t i = 0; i < piece_bytes.size(); to += piece_bytes[i++])
        std::memcpy(to, x[i] + static_cast<size_t>(outer_index) * piece_bytes[i], piece_bytes[i]);
    }
  };
}

int64_t clamped(const Elements& indices, const std::byte* from, int64_t i, int64_t length) {
  return std::clamp<int64_t>(indices.whole(from, i), 0, length - 1);
}

Kernel gather(const Gather& op, const Request& r) {
  const AxisView from(r.in[0].shape, op.axis);
  const Elements indices(r.in[1].dtype);
  const size_t bytes = static_cast<size_t>(from.inner_size) * size_of(r.in[0].dtype);
  return [=, count = r.in[1].shape.size()](const std::byte* const* x, std::byte* const* y) {
    for (int64_t line = 0; line < from.outer_size * count; ++line) {
      const int64_t row = clamped(indices, x[1], line % count, from.length);
      copy_element(y[0], line, x[0], line / count * from.length + row, bytes);
    }
  };
}

Kernel scatter_add(const ScatterAdd& op, const Request& r) {
  const AxisView to(r.out[0].shape, op.axis);
  const Elements indices(r.in[0].dtype), out(r.out[0].dtype);
  if (!out.floating || out.bytes < 4) return {};  // sums of 16-bit floats are left to the host
  return [=, count = r.in[0].shape.size()](const std::byte* const* x, std::byte* const* y) {
    for (int64_t i = 0; i < to.outer_size * to.length * to.inner_size; ++i)
      out.set_real(y[0], i, 0);
    for (int64_t line = 0; line < to.outer_size * count; ++line) {
      const int64_t row =
          line / count * to.length + clamped(indices, x[0], line % count, to.length);
      for (int64_t i = 0; i < to.inner_size; ++i) {
        const int64_t at = row * to.inner_size + i;
        out.set_real(y[0], at, out.real(y[0], at) + out.real(x[1], line * to.inner_size + i));
      }
    }
  };
}

Kernel take_along(const TakeAlong& op, const Request& r) {
  const AxisView from(r.in[0].shape, op.axis), to(r.out[0].shape, op.axis);
  const Elements indices(r.in[1].dtype);
  return [=, bytes = size_of(r.in[0].dtype)](const std::byte* const* x, std::byte* const* y) {
    for (int64_t i = 0; i < to.outer_size * to.length * to.inner_size; ++i) {
      const int64_t row =
          i / (to.length * to.inner_size) * from.length + clamped(indices, x[1], i, from.length);
      copy_element(y[0], i, x[0], row * from.inner_size + i % to.inner_size, bytes);
    }
  };
}

Kernel one_hot(const OneHot& op, const Request& r) {
  const Elements indices(r.in[0].dtype), out(r.out[0].dtype);
  return [=, depth = op.depth, count = r.in[0].shape.size()](const std::byte* const* x,
                                                             std::byte* const* y) {
    for (int64_t i = 0; i < count * depth; ++i)
      out.set_whole(y[0], i, indices.whole(x[0], i / depth) == i % depth);
  };
}

}  // namespace

Kernel shape_kernel(const Request& r) {
  if (as<BroadcastTo>(r.op)) return move(r, strides_of(r.in[0].shape, r.out[0].shape));
  if (auto* op = as<Transpose>(r.op)) return transpose(*op, r);
  if (auto* op = as<Slice>(r.op)) return slice(*op, r);
  if (auto* op = as<Pad>(r.op)) return pad(*op, r);
  if (auto* op = as<Concat>(r.op)) return join(*op, r);
  return {};
}

Kernel index_kernel(const Request& r) {
  if (auto* op = as<Gather>(r.op)) return gather(*op, r);
  if (auto* op = as<ScatterAdd>(r.op)) return scatter_add(*op, r);
  if (auto* op = as<TakeAlong>(r.op)) return take_along(*op, r);
  if (auto* op = as<OneHot>(r.op)) return one_hot(*op, r);
  return {};
}

}  // namespace crescent::far

// The ops for which this test device has kernels, as plain loops. All other ops are lowered to
// these, or run on the host.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "crescent/program/op_types.h"

namespace crescent::far {

/// A kernel: a function that reads the bytes of the inputs and writes the bytes of the outputs.
using Kernel = std::function<void(const std::byte* const* in, std::byte* const* out)>;

struct Request {
  const Op& op;
  std::span<const TensorSpec> in, out;
};

/// The kernel for the request; empty if the device has none.
Kernel make_kernel(const Request& request);

// The kernels of each family of ops.
Kernel elementwise_kernel(const Request& r);  // ops: unary binary select cast check_indices
Kernel shape_kernel(const Request& r);        // ops: broadcast_to transpose slice concat pad
Kernel index_kernel(const Request& r);        // ops: gather scatter_add take_along one_hot
Kernel reduce_kernel(const Request& r);       // ops: reduce arg_reduce
Kernel product_kernel(const Request& r);      // ops: matmul conv conv_backward_* pool pool_backward

/// The op as a T; null if it has another class.
template <class T>
const T* as(const Op& op) {
  return op.name() == T::kName ? static_cast<const T*>(&op) : nullptr;
}

/// Reads and writes elements of a dtype: floating-point elements as double, others as integers.
struct Elements {
  explicit Elements(DType dtype);
  bool floating;
  size_t bytes;
  double (*real)(const std::byte*, int64_t);
  void (*set_real)(std::byte*, int64_t, double);
  int64_t (*whole)(const std::byte*, int64_t);
  void (*set_whole)(std::byte*, int64_t, int64_t);
};

using Strides = std::array<int64_t, Shape::kMaxRank>;

template <size_t n>
using Operands = std::array<Strides, n>;

/// The strides of `shape` broadcast to `to`, in elements; 0 along broadcast axes.
Strides strides_of(const Shape& shape, const Shape& to);
inline Strides strides_of(const Shape& shape) { return strides_of(shape, shape); }

/// Calls f(element, offsets) for every element of `shape` in order, with the offset in each
/// operand.
template <size_t n, class F>
void for_each_element(const Shape& shape, const Operands<n>& operands, F f) {
  std::array<int64_t, Shape::kMaxRank> at{};
  std::array<int64_t, n> offsets{};
  const int64_t size = shape.size();
  for (int64_t i = 0; i < size; ++i) {
    f(i, offsets);
    for (size_t axis = static_cast<size_t>(shape.rank()); axis-- > 0;) {
      const bool is_inside = ++at[axis] < shape[static_cast<int>(axis)];
      for (size_t o = 0; o < n; ++o)
        offsets[o] += operands[o][axis] * (is_inside ? 1 : 1 - shape[static_cast<int>(axis)]);
      if (is_inside) break;
      at[axis] = 0;
    }
  }
}

/// A shape split at one of its axes: (outer, length, inner).
struct AxisView {
  AxisView(const Shape& shape, int axis)
      : outer_size(shape.slice(0, shape.axis(axis)).size()),
        length(shape[axis]),
        inner_size(shape.slice(shape.axis(axis) + 1, shape.rank()).size()) {}
  int64_t outer_size, length, inner_size;
};

}  // namespace crescent::far

// Reductions; floating-point sums are computed in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.h"

namespace crescent::far {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double start_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::max:
      return -kInfinity;
    case ReduceKind::min:
      return kInfinity;
    case ReduceKind::prod:
    case ReduceKind::all:
      return 1;
    default:
      return 0;
  }
}

double combined(ReduceKind kind, double a, double x) {
  switch (kind) {
    case ReduceKind::max:
      return x > a || std::isnan(x) ? x : a;
    case ReduceKind::min:
      return x < a || std::isnan(x) ? x : a;
    case ReduceKind::prod:
      return a * x;
    case ReduceKind::any:
      return a != 0 || x != 0;
    case ReduceKind::all:
      return a != 0 && x != 0;
    default:
      return a + x;
  }
}

/// The strides of the result along the axes of `in`; 0 along reduced axes.
Strides result_strides(const Shape& in, const std::vector<int>& axes) {
  Strides strides{};
  int64_t step = 1;
  for (int axis = in.rank() - 1; axis >= 0; --axis) {
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
    strides[static_cast<size_t>(axis)] = step;
    step *= in[axis];
  }
  return strides;
}

/// Reductions of large integers are left to the host, because a double cannot represent all of
/// them.
Kernel reduce(const Reduce& op, const Request& r) {
  const Elements in(r.in[0].dtype), out(r.out[0].dtype);
  if (in.bytes == 8 && !in.floating) return {};
  const int64_t size = r.out[0].shape.size();
  const double elements_per_result =
      size > 0 ? static_cast<double>(r.in[0].shape.size() / size) : 1;
  return
      [=, kind = op.kind, shape = r.in[0].shape, strides = result_strides(r.in[0].shape, op.axes)](
          const std::byte* const* x, std::byte* const* y) {
        std::vector<double> results(static_cast<size_t>(size), start_of(kind));
        for_each_element(shape, Operands<1>{strides}, [&](int64_t i, const auto& at) {
          double& result = results[static_cast<size_t>(at[0])];
          result = combined(kind, result, in.real(x[0], i));
        });
        for (int64_t i = 0; i < size; ++i) {
          const double result = results[static_cast<size_t>(i)];
          out.set_real(y[0], i, kind == ReduceKind::mean ? result / elements_per_result : result);
        }
      };
}

Kernel arg_reduce(const ArgReduce& op, const Request& r) {
  const AxisView view(r.in[0].shape, op.axis);
  const Elements in(r.in[0].dtype), out(r.out[0].dtype);
  if (!in.floating) return {};
  return [=, max = op.max](const std::byte* const* x, std::byte* const* y) {
    for (int64_t line = 0; line < view.outer_size * view.inner_size; ++line) {
      const int64_t first =
          line / view.inner_size * view.length * view.inner_size + line % view.inner_size;
      int64_t best = 0;
      double best_value = in.real(x[0], first);
      for (int64_t i = 1; i < view.length && !std::isnan(best_value); ++i) {
        const double value = in.real(x[0], first + i * view.inner_size);
        if (max ? value > best_value : value < best_value) best_value = value, best = i;
        if (std::isnan(value)) best_value = value, best = i;
      }
      out.set_whole(y[0], line, best);
    }
  };
}

}  // namespace

Kernel reduce_kernel(const Request& r) {
  if (auto* op = as<Reduce>(r.op)) return reduce(*op, r);
  if (auto* op = as<ArgReduce>(r.op)) return arg_reduce(*op, r);
  return {};
}

}  // namespace crescent::far

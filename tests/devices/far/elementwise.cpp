// Elementwise ops with broadcasting, and checks of indices.
#include <cmath>

#include "kernels.h"

namespace crescent::far {
namespace {

using U = UnaryKind;
using B = BinaryKind;

double keep_nan(double x, double y) { return std::isnan(x) ? x : y; }

double (*real_unary(UnaryKind kind))(double) {
  using F = double (*)(double);
  switch (kind) {
    case U::negative:
      return [](double x) { return -x; };
    case U::abs:
      return [](double x) { return std::abs(x); };
    case U::sign:
      return [](double x) { return keep_nan(x, (x > 0) - (x < 0)); };
    case U::square:
      return [](double x) { return x * x; };
    case U::sqrt:
      return [](double x) { return std::sqrt(x); };
    case U::rsqrt:
      return [](double x) { return 1 / std::sqrt(x); };
    case U::reciprocal:
      return [](double x) { return 1 / x; };
    case U::exp:
      return [](double x) { return std::exp(x); };
    case U::log:
      return [](double x) { return std::log(x); };
    case U::tanh:
      return [](double x) { return std::tanh(x); };
    case U::sigmoid:
      return [](double x) { return 1 / (1 + std::exp(-x)); };
    case U::relu:
      return [](double x) { return x < 0 ? 0 : x; };
    case U::logical_not:
      return [](double x) -> double { return x == 0; };
    case U::isfinite:
      return [](double x) -> double { return std::isfinite(x); };
    default:
      return F{};
  }
}

double (*real_binary(BinaryKind kind))(double, double) {
  using F = double (*)(double, double);
  switch (kind) {
    case B::add:
      return [](double a, double b) { return a + b; };
    case B::subtract:
      return [](double a, double b) { return a - b; };
    case B::multiply:
      return [](double a, double b) { return a * b; };
    case B::divide:
      return [](double a, double b) { return a / b; };
    case B::power:
      return [](double a, double b) { return std::pow(a, b); };
    case B::maximum:
      return [](double a, double b) { return a > b || std::isnan(a) ? a : b; };
    case B::minimum:
      return [](double a, double b) { return a < b || std::isnan(a) ? a : b; };
    case B::equal:
      return [](double a, double b) -> double { return a == b; };
    case B::not_equal:
      return [](double a, double b) -> double { return a != b; };
    case B::less:
      return [](double a, double b) -> double { return a < b; };
    case B::less_equal:
      return [](double a, double b) -> double { return a <= b; };
    case B::greater:
      return [](double a, double b) -> double { return a > b; };
    case B::greater_equal:
      return [](double a, double b) -> double { return a >= b; };
    default:
      return F{};
  }
}

/// The function of integer arithmetic for this kind of op; results wrap around on overflow.
int64_t (*whole_binary(BinaryKind kind))(int64_t, int64_t) {
  using F = int64_t (*)(int64_t, int64_t);
  switch (kind) {
    case B::add:
      return [](int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); };
    case B::subtract:
      return [](int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); };
    case B::multiply:
      return [](int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); };
    case B::equal:
      return [](int64_t a, int64_t b) -> int64_t { return a == b; };
    case B::not_equal:
      return [](int64_t a, int64_t b) -> int64_t { return a != b; };
    case B::less:
      return [](int64_t a, int64_t b) -> int64_t { return a < b; };
    case B::greater_equal:
      return [](int64_t a, int64_t b) -> int64_t { return a >= b; };
    case B::logical_and:
      return [](int64_t a, int64_t b) -> int64_t { return a && b; };
    case B::logical_or:
      return [](int64_t a, int64_t b) -> int64_t { return a || b; };
    default:
      return F{};
  }
}

Kernel unary_kernel(UnaryKind kind, const Request& r) {
  const Elements in(r.in[0].dtype), out(r.out[0].dtype);
  const auto f = real_unary(kind);
  const bool is_exact = in.floating || kind == U::logical_not;
  if (!f || !is_exact) return {};
  return [=, n = r.out[0].shape.size()](const std::byte* const* x, std::byte* const* y) {
    for (int64_t i = 0; i < n; ++i) out.set_real(y[0], i, f(in.real(x[0], i)));
  };
}

template <class F, class Get, class Set>
Kernel binary_loop(F f, Get get, Set set, const Request& r) {
  const Shape shape = r.out[0].shape;
  const std::array strides{strides_of(r.in[0].shape, shape), strides_of(r.in[1].shape, shape)};
  return [=](const std::byte* const* x, std::byte* const* y) {
    for_each_element(shape, strides, [&](int64_t i, const auto& at) {
      set(y[0], i, f(get(x[0], at[0]), get(x[1], at[1])));
    });
  };
}

Kernel binary_kernel(BinaryKind kind, const Request& r) {
  const Elements in(r.in[0].dtype), out(r.out[0].dtype);
  if (in.floating) {
    const auto f = real_binary(kind);
    return f ? binary_loop(f, in.real, out.set_real, r) : Kernel();
  }
  const auto f = whole_binary(kind);
  return f ? binary_loop(f, in.whole, out.set_whole, r) : Kernel();
}

Kernel select_kernel(const Request& r) {
  const Shape shape = r.out[0].shape;
  const size_t bytes = size_of(r.out[0].dtype);
  const std::array strides{strides_of(r.in[0].shape, shape), strides_of(r.in[1].shape, shape),
                           strides_of(r.in[2].shape, shape)};
  return [=](const std::byte* const* x, std::byte* const* y) {
    for_each_element(shape, strides, [&](int64_t i, const auto& at) {
      const size_t from = x[0][at[0]] != std::byte{0} ? 1 : 2;
      std::copy_n(x[from] + static_cast<size_t>(at[from]) * bytes, bytes,
                  y[0] + static_cast<size_t>(i) * bytes);
    });
  };
}

Kernel cast_kernel(const Request& r) {
  const Elements in(r.in[0].dtype), out(r.out[0].dtype);
  return [=, n = r.out[0].shape.size()](const std::byte* const* x, std::byte* const* y) {
    for (int64_t i = 0; i < n; ++i) {
      in.floating ? out.set_real(y[0], i, in.real(x[0], i))
                  : out.set_whole(y[0], i, in.whole(x[0], i));
    }
  };
}

std::string position_text(const Shape& shape, int64_t i) {
  std::string text;
  for (int axis = shape.rank() - 1; axis >= 0; i /= shape[axis--])
    text = concat(i % shape[axis], text.empty() ? "" : ", ", text);
  return text.empty() ? "" : concat(" at [", text, "]");
}

Kernel check_kernel(const CheckIndices& op, const Request& r) {
  const Elements in(r.in[0].dtype), out(r.out[0].dtype);
  const auto size = static_cast<double>(op.size);
  return [=, shape = r.in[0].shape](const std::byte* const* x, std::byte* const* y) {
    for (int64_t i = 0; i < shape.size(); ++i) {
      const double value = in.real(x[0], i);
      if (!(value > -1 && value < size))
        throw DataError(concat(op.what, " ",
                               in.floating ? to_text(value) : to_text(in.whole(x[0], i)),
                               position_text(shape, i), " is out of range for ", op.of));
      out.set_whole(y[0], i, in.whole(x[0], i));
    }
  };
}

}  // namespace

Kernel elementwise_kernel(const Request& r) {
  if (auto* op = as<Unary>(r.op)) return unary_kernel(op->kind, r);
  if (auto* op = as<Binary>(r.op)) return binary_kernel(op->kind, r);
  if (as<Select>(r.op)) return select_kernel(r);
  if (as<Cast>(r.op)) return cast_kernel(r);
  if (auto* op = as<CheckIndices>(r.op)) return check_kernel(*op, r);
  return {};
}

}  // namespace crescent::far

// Reference implementations of elementwise ops.
#include <algorithm>
#include <cmath>

#include "crescent/program/op_types.h"
#include "random/reference/reference.h"

namespace crescent::random_programs {
namespace {

/// The index of an input element for each element of the broadcast result.
class Broadcast {
 public:
  Broadcast(const Array& in, const Shape& shape) : values_(in.values) {
    const std::vector<int64_t> strides = strides_of(in.spec.shape);
    const int missing_axes = shape.rank() - in.spec.shape.rank();
    for (int i = 0; i < shape.rank(); ++i) {
      const bool repeats = i < missing_axes || in.spec.shape[i - missing_axes] == 1;
      strides_.push_back(repeats ? 0 : strides[static_cast<size_t>(i - missing_axes)]);
    }
  }
  double operator[](const IndexIterator& position) const {
    int64_t offset = 0;
    for (size_t i = 0; i < strides_.size(); ++i) offset += strides_[i] * position.at()[i];
    return values_[static_cast<size_t>(offset)];
  }

 private:
  const std::vector<double>& values_;
  std::vector<int64_t> strides_;
};

double sign(double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }

double sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double compute(UnaryKind kind, double x) {
  using K = UnaryKind;
  switch (kind) {
    case K::negative:
      return -x;
    case K::abs:
      return std::abs(x);
    case K::sign:
      return sign(x);
    case K::square:
      return x * x;
    case K::sqrt:
      return std::sqrt(x);
    case K::rsqrt:
      return 1 / std::sqrt(x);
    case K::reciprocal:
      return 1 / x;
    case K::exp:
      return std::exp(x);
    case K::expm1:
      return std::expm1(x);
    case K::log:
      return std::log(x);
    case K::log1p:
      return std::log1p(x);
    case K::sin:
      return std::sin(x);
    case K::cos:
      return std::cos(x);
    case K::tan:
      return std::tan(x);
    case K::arcsin:
      return std::asin(x);
    case K::arccos:
      return std::acos(x);
    case K::arctan:
      return std::atan(x);
    case K::sinh:
      return std::sinh(x);
    case K::cosh:
      return std::cosh(x);
    case K::tanh:
      return std::tanh(x);
    case K::sigmoid:
      return sigmoid(x);
    case K::relu:
      return x < 0 ? 0 : x;
    case K::softplus:
      return softplus(x);
    case K::erf:
      return std::erf(x);
    case K::floor:
      return std::floor(x);
    case K::ceil:
      return std::ceil(x);
    case K::round:
      return std::nearbyint(x);
    case K::logical_not:
      return x == 0;
    case K::isnan:
      return std::isnan(x);
    case K::isfinite:
      return std::isfinite(x);
  }
  throw Unreliable("an unknown kind");
}

/// The error of a function, as a multiple of the unit roundoff. It is not 0 for float64 either,
/// since the functions of the C library are approximations.
double error_units(UnaryKind kind, DType dtype) {
  using K = UnaryKind;
  switch (kind) {
    case K::negative:
    case K::abs:
    case K::sign:
    case K::relu:
    case K::floor:
    case K::ceil:
    case K::round:
    case K::logical_not:
    case K::isnan:
    case K::isfinite:
      return 0;
    case K::square:
    case K::sqrt:
    case K::reciprocal:
      return 1;
    default:
      return dtype == DType::float64 ? 64 : 4;
  }
}

double floor_quotient(double a, double b, double quotient) {
  return b == 0 && std::isnan(a / b) ? a / b : std::floor(quotient);
}

double remainder(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

double integer_power(double a, double b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (std::fmod(b, 2) != 0 ? -1 : 1) : 0;
  return std::pow(a, b);
}

double compare(BinaryKind kind, double a, double b) {
  using K = BinaryKind;
  switch (kind) {
    case K::equal:
      return a == b;
    case K::not_equal:
      return a != b;
    case K::less:
      return a < b;
    case K::less_equal:
      return a <= b;
    case K::greater:
      return a > b;
    case K::greater_equal:
      return a >= b;
    case K::logical_and:
      return a != 0 && b != 0;
    default:
      return a != 0 || b != 0;
  }
}

double compute_integer(BinaryKind kind, double a, double b) {
  using K = BinaryKind;
  switch (kind) {
    case K::add:
      return a + b;
    case K::subtract:
      return a - b;
    case K::multiply:
      return a * b;
    case K::divide:
      return b == 0 ? 0 : std::trunc(a / b);
    case K::floor_divide:
      return b == 0 ? 0 : std::floor(a / b);
    case K::mod:
      return b == 0 ? 0 : remainder(a, b);
    case K::power:
      return integer_power(a, b);
    case K::maximum:
      return std::max(a, b);
    case K::minimum:
      return std::min(a, b);
    default:
      throw Unreliable("an unknown kind");
  }
}

double compute(BinaryKind kind, double a, double b, DType dtype, Rounding& rounding) {
  using K = BinaryKind;
  const bool is_nan = std::isnan(a) || std::isnan(b);
  switch (kind) {
    case K::add:
      return rounding.of_sum(a, b, dtype);
    case K::subtract:
      return rounding.of_sum(a, -b, dtype);
    case K::multiply:
      return rounding.of_arithmetic(a, b, a * b, dtype);
    case K::divide:
      return rounding.of_arithmetic(a, b, a / b, dtype);
    case K::floor_divide:
      return floor_quotient(a, b, rounding.of_arithmetic(a, b, a / b, dtype));
    case K::mod: {
      const double left = std::fmod(a, b), result = remainder(a, b);
      return left == result ? result : rounding.of_arithmetic(left, b, result, dtype);
    }
    case K::power:
      return rounding(std::pow(a, b), dtype, 4 + (a > 0 ? std::abs(b * std::log(a)) : 0));
    case K::maximum:
      return is_nan ? a + b : std::max(a, b);
    case K::minimum:
      return is_nan ? a + b : std::min(a, b);
    case K::arctan2:
      return rounding(std::atan2(a, b), dtype, 4);
    default:
      return compare(kind, a, b);
  }
}

void interpret_unary(UnaryKind kind, const Call& call) {
  const Array& x = *call.in[0];
  const DType dtype = x.spec.dtype;
  const double units = is_floating(dtype) ? error_units(kind, dtype) : 0;
  const bool is_arithmetic = kind == UnaryKind::square;
  const bool is_trigonometric =
      kind == UnaryKind::sin || kind == UnaryKind::cos || kind == UnaryKind::tan;
  for (size_t i = 0; i < x.values.size(); ++i) {
    const double exact_result = x.values[i],
                 y = compute(kind, call.rounding.of_reading(exact_result, x.read_as()));
    call.out[0].values[i] = is_arithmetic
                                ? call.rounding.of_arithmetic(exact_result, exact_result, y, dtype)
                            : is_trigonometric ? call.rounding(y, dtype, units, 1 + y * y)
                                               : call.rounding(y, dtype, units);
  }
}

void interpret_binary(BinaryKind kind, const Call& call) {
  Array& out = call.out[0];
  const DType dtype = call.in[0]->spec.dtype;
  const Broadcast a(*call.in[0], out.spec.shape), b(*call.in[1], out.spec.shape);
  const bool is_comparison = kind >= BinaryKind::equal,
             is_equality =
                 (kind == BinaryKind::equal || kind == BinaryKind::not_equal) && is_floating(dtype);
  IndexIterator position(out.spec.shape);
  for (double& y : out.values) {
    const double left = call.rounding.of_reading(a[position], call.in[0]->read_as()),
                 right = call.rounding.of_reading(b[position], call.in[1]->read_as());
    if (is_equality && call.rounding.is_exact()) refuse_near(left, right, call.in[0]->read_as());
    y = is_comparison        ? compare(kind, left, right)
        : is_floating(dtype) ? compute(kind, left, right, dtype, call.rounding)
                             : compute_integer(kind, left, right);
    position.next();
  }
  if (!is_equality || !call.equalities) return;
  std::vector<bool> are_equal;
  for (double y : out.values) are_equal.push_back((y != 0) == (kind == BinaryKind::equal));
  call.equalities->add(std::move(are_equal));
}

void interpret_select(const Call& call) {
  Array& out = call.out[0];
  const Broadcast condition(*call.in[0], out.spec.shape), a(*call.in[1], out.spec.shape),
      b(*call.in[2], out.spec.shape);
  IndexIterator position(out.spec.shape);
  for (double& y : out.values) {
    y = condition[position] != 0 ? a[position] : b[position];
    position.next();
  }
}

void interpret_cast(const Call& call) {
  const Array& x = *call.in[0];
  const DType from = x.spec.dtype, to = call.out[0].spec.dtype;
  if (is_floating(from) && size_of(from) == 2 && is_floating(to)) call.out[0].half_dtype = from;
  for (size_t i = 0; i < x.values.size(); ++i) {
    const double value = call.rounding.of_reading(x.values[i], from);
    double& y = call.out[0].values[i];
    if (to == DType::boolean) {
      if (is_floating(from) && call.rounding.is_exact()) refuse_near(value, 0, from);
      y = value != 0;
    } else if (is_floating(to)) {
      // A cast between floating-point dtypes has a rounding error; an integer becomes the nearest
      // number of the dtype.
      y = is_floating(from) ? call.rounding.of_arithmetic(value, value, value, to)
                            : nearest(value, to);
    } else {
      const double limit = to == DType::int64 ? 0x1p62 : 0x1p8 * (1 << (8 * (size_of(to) - 1))) / 2;
      if (is_floating(from) && !(std::abs(value) < limit))
        throw Unreliable("a fraction that fits no integer");
      if (is_floating(from) && to == DType::uint8 && value <= -1)
        throw Unreliable("a fraction that fits no integer");
      y = std::trunc(value);
    }
  }
}

}  // namespace

void refuse_near(double a, double b, DType dtype) {
  // Small numbers a and b may be differences of larger numbers, and have the rounding errors of
  // these. This is the magnitude that is assumed for the larger numbers.
  const double smallest_cancelled = size_of(dtype) == 2 ? 1e-6 : 1;
  const double difference = std::abs(a - b),
               largest = std::max({std::abs(a), std::abs(b), smallest_cancelled}),
               smallest = smallest_normal(dtype) * unit_of(dtype);
  if (difference != 0 && difference <= 8 * unit_of(dtype) * largest + 2 * smallest)
    throw Unreliable("rounding decides what is equal");
}

bool interpret_elementwise(const Call& call) {
  const std::string_view name = call.op.name();
  if (name == Unary::kName)
    interpret_unary(static_cast<const Unary&>(call.op).kind, call);
  else if (name == Binary::kName)
    interpret_binary(static_cast<const Binary&>(call.op).kind, call);
  else if (name == Select::kName)
    interpret_select(call);
  else if (name == Cast::kName)
    interpret_cast(call);
  else
    return false;
  return true;
}

}  // namespace crescent::random_programs

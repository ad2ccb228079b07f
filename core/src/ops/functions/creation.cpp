// Functions that create tensors from numbers.
#include "crescent/ops/creation.h"

#include <cmath>
#include <numbers>

#include "ops/functions/array_ops.h"
#include "program/large_results.h"

namespace crescent::ops {
namespace {

Tensor from_values(const std::vector<double>& values, DType dtype) {
  return ops::cast(Tensor::from(values, {static_cast<int64_t>(values.size())}), dtype);
}

/// Returns a tensor of f(0), f(1), ..., computed in float64; all values must lie between
/// `min_value` and `max_value`.
template <class F>
Tensor from_indices(int64_t count, DType dtype, double min_value, double max_value, F f) {
  if (LargeResultsAbstract::includes({count})) return Tensor::abstract({dtype, {count}});
  const auto make_tensor = [&]<class T>(T) {
    Tensor result = Tensor::uninitialized({dtype, {count}});
    T* target = reinterpret_cast<T*>(result.storage()->host());
    constexpr int kBlockSize = 64;  // a constant number of iterations lets the compiler vectorize
    int64_t i = 0;
    for (; i + kBlockSize <= count; i += kBlockSize)
      for (int j = 0; j < kBlockSize; ++j)
        target[i + j] = static_cast<T>(f(static_cast<double>(i) + j));
    for (; i < count; ++i) target[i] = static_cast<T>(f(static_cast<double>(i)));
    return result;
  };
  if (dtype == DType::float32) return make_tensor(float());
  if (dtype == DType::float64) return make_tensor(double());
  if (dtype == DType::int32 && min_value >= -0x1p31 && max_value < 0x1p31)
    return make_tensor(int32_t());
  return ops::cast(from_indices(count, DType::float64, min_value, max_value, f), dtype);
}

/// Evenly spaced numbers from start to stop.
std::vector<double> evenly_spaced(double start, double stop, int64_t num, bool endpoint) {
  std::vector<double> values(num);
  const auto step_count = static_cast<double>(std::max<int64_t>(1, endpoint ? num - 1 : num));
  for (int64_t i = 0; i < num; ++i)
    values[i] = start + (stop - start) * static_cast<double>(i) / step_count;
  return values;
}

Tensor spaced_numbers(double start, double stop, int64_t num, bool endpoint, DType dtype) {
  const auto step_count = static_cast<double>(std::max<int64_t>(1, endpoint ? num - 1 : num));
  return from_indices(num, dtype, std::min(start, stop), std::max(start, stop),
                      [&](double i) { return start + (stop - start) * i / step_count; });
}

/// `num` evenly spaced values between two tensors, along a new axis.
Tensor evenly_spaced(const Operand& start, const Operand& stop, int64_t num, bool endpoint,
                     int axis) {
  const auto [first_value, last_value] = promoted(start, stop);
  const Tensor floating_first_value = floating(first_value),
               floating_last_value = floating(last_value);
  const auto step_count = static_cast<double>(std::max<int64_t>(1, endpoint ? num - 1 : num));
  const Tensor difference = floating_last_value - floating_first_value;
  const int rank = difference.rank() + 1, positive_axis = axis < 0 ? axis + rank : axis;
  const Tensor fraction = positions(num, positive_axis, rank, difference.dtype()) / step_count;
  return ops::expand_dims(ops::broadcast_to(floating_first_value, difference.shape()),
                          positive_axis) +
         ops::expand_dims(difference, positive_axis) * fraction;
}

/// The dtype of the results of geomspace: floatx() if an integer dtype is requested.
std::optional<DType> power_dtype(std::optional<DType> dtype) {
  return dtype && !is_floating(*dtype) ? floatx() : dtype;
}

template <double (*WindowFunction)(double position)>
Tensor window(int64_t count) {
  checked_count("window", count);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(
        count == 1 ? 1 : WindowFunction(static_cast<double>(i) / static_cast<double>(count - 1)));
  return from_values(values, floatx());
}

constexpr double kTwoPi = 2 * std::numbers::pi;
double bartlett_value(double t) { return 1 - std::abs(2 * t - 1); }
double blackman_value(double t) {
  return 0.42 - 0.5 * std::cos(kTwoPi * t) + 0.08 * std::cos(2 * kTwoPi * t);
}
double hamming_value(double t) { return 0.54 - 0.46 * std::cos(kTwoPi * t); }
double hanning_value(double t) { return 0.5 - 0.5 * std::cos(kTwoPi * t); }

}  // namespace

Tensor arange(const Operand& start, const Operand& stop, const Operand& step,
              std::optional<DType> dtype) {
  const auto number_of = [](const Operand& x) { return x.tensor ? x.tensor.item() : x.number; };
  const double first_value = number_of(start), last_value = number_of(stop),
               increment = number_of(step);
  if (increment == 0) fail("arange: the step must not be 0");
  const double count = std::max(0.0, std::ceil((last_value - first_value) / increment));
  if (!(count < 0x1p40)) fail("arange: ", count, " elements are too many");
  const auto is_whole = [](const Operand& x) {
    return x.tensor ? is_integer(x.tensor.dtype()) : x.whole;
  };
  const bool is_whole_range = is_whole(start) && is_whole(stop) && is_whole(step);
  return from_indices(static_cast<int64_t>(count),
                      dtype.value_or(is_whole_range ? DType::int32 : floatx()),
                      std::min(first_value, last_value), std::max(first_value, last_value),
                      [&](double i) { return first_value + increment * i; });
}

Tensor linspace(const Operand& start, const Operand& stop, int64_t num, bool endpoint,
                std::optional<DType> dtype, int axis) {
  checked_count("linspace", num);
  if (!start.tensor && !stop.tensor)
    return spaced_numbers(start.number, stop.number, num, endpoint, dtype.value_or(floatx()));
  const Tensor values = evenly_spaced(start, stop, num, endpoint, axis);
  return dtype ? ops::cast(values, *dtype) : values;
}

Tensor linspace_step(const Operand& start, const Operand& stop, int64_t num, bool endpoint) {
  const auto step_count = static_cast<double>(std::max<int64_t>(1, endpoint ? num - 1 : num));
  if (!start.tensor && !stop.tensor)
    return Tensor::scalar((stop.number - start.number) / step_count);
  const auto [first_value, last_value] = promoted(start, stop);
  return (floating(last_value) - floating(first_value)) / step_count;
}

Tensor logspace(const Operand& start, const Operand& stop, int64_t num, bool endpoint, double base,
                std::optional<DType> dtype, int axis) {
  checked_count("logspace", num);
  if (start.tensor || stop.tensor) {
    const Tensor exponent = evenly_spaced(start, stop, num, endpoint, axis);
    const Tensor values = ops::power(number_like(exponent, base), exponent);
    return dtype ? ops::cast(values, *dtype) : values;
  }
  std::vector<double> values = evenly_spaced(start.number, stop.number, num, endpoint);
  for (double& x : values) x = std::pow(base, x);
  return from_values(values, dtype.value_or(floatx()));
}

Tensor geomspace(const Operand& start, const Operand& stop, int64_t num, bool endpoint,
                 std::optional<DType> requested_dtype, int axis) {
  checked_count("geomspace", num);
  const std::optional<DType> dtype = power_dtype(requested_dtype);
  if (start.tensor || stop.tensor) {
    const auto [first_value, last_value] = promoted(start, stop);
    const Tensor values = ops::exp(evenly_spaced(
        ops::log(floating(first_value)), ops::log(floating(last_value)), num, endpoint, axis));
    return dtype ? ops::cast(values, *dtype) : values;
  }
  if (start.number * stop.number <= 0)
    fail("geomspace: expected ends of one sign, got ", start.number, " and ", stop.number);
  std::vector<double> values = evenly_spaced(0, 1, num, endpoint);
  for (double& x : values) x = start.number * std::pow(stop.number / start.number, x);
  return from_values(values, dtype.value_or(floatx()));
}

Tensor vander(const Tensor& x, std::optional<int64_t> n, bool increasing) {
  if (x.rank() != 1) fail("vander: expected one axis, got shape ", x.shape());
  const int64_t column_count = n.value_or(x.dim(0)), max_columns = int64_t{1} << 16;
  if (column_count < 0 || column_count > max_columns)
    fail("vander: expected 0 to ", max_columns, " columns, got ", column_count);
  Tensors power_columns{ops::ones_like(x)};
  for (int64_t i = 1; i < column_count; ++i)
    power_columns.push_back(ops::cast(power_columns.back() * x, x.dtype()));
  power_columns.resize(column_count);
  if (!increasing) std::reverse(power_columns.begin(), power_columns.end());
  return ops::stack(power_columns, 1);
}

Tensors meshgrid(std::span<const Tensor> xs, const std::string& indexing) {
  if (indexing != "xy" && indexing != "ij")
    fail("meshgrid: indexing must be 'xy' or 'ij', got '", indexing, "'");
  const auto count = static_cast<int>(xs.size());
  const auto axis_of_grid = [&](int i) {
    return indexing == "xy" && count > 1 && i < 2 ? 1 - i : i;
  };
  std::vector<int64_t> dims(xs.size());
  for (int i = 0; i < count; ++i) dims[axis_of_grid(i)] = xs[i].size();
  Tensors grids;
  for (int i = 0; i < count; ++i) {
    Shape shape(std::vector<int64_t>(xs.size(), 1));
    shape.set(axis_of_grid(i), dims[axis_of_grid(i)]);
    grids.push_back(ops::broadcast_to(ops::reshape(xs[i], shape), Shape(dims)));
  }
  return grids;
}

Tensor bartlett(int64_t count) { return window<bartlett_value>(count); }
Tensor blackman(int64_t count) { return window<blackman_value>(count); }
Tensor hamming(int64_t count) { return window<hamming_value>(count); }
Tensor hanning(int64_t count) { return window<hanning_value>(count); }
Tensor kaiser(int64_t count, double beta) {
  checked_count("kaiser", count);
  beta = std::abs(beta);  // the window is an even function of beta
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const double t =
        count == 1 ? 0 : 2 * static_cast<double>(i) / static_cast<double>(count - 1) - 1;
    values.push_back(bessel_i(0, beta * std::sqrt(1 - t * t)) / bessel_i(0, beta));
  }
  return from_values(values, floatx());
}

Tensor full_like(const Tensor& x, const Operand& value, std::optional<DType> dtype) {
  return ops::broadcast_to(ops::cast(tensor_of(value), dtype.value_or(x.dtype())), x.shape());
}

}  // namespace crescent::ops

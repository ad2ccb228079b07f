// Tensors made from numbers, and parts of matrices.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "crescent/program/op_types.h"
#include "crescent/registry/registration.h"
#include "families.h"
#include "kernels/special_functions.h"

namespace crescent::operations {
namespace {

/// The number of a diagonal, or of the nearest that is just beside the matrix.
int64_t diagonal_near(int64_t k, int64_t rows, int64_t columns) {
  return std::max(std::min(k, columns), -rows);
}

}  // namespace

Tensor diagonal(const Tensor& given, int64_t offset, int axis1, int axis2) {
  const int first = axis_of(given, axis1), second = axis_of(given, axis2);
  if (first == second) fail("diagonal: the axes must differ, got ", axis1, " twice");
  std::vector<int> order;
  for (int i = 0; i < given.rank(); ++i)
    if (i != first && i != second) order.push_back(i);
  order.push_back(first);
  order.push_back(second);
  const Tensor x = ops::transpose(given, order);
  const int64_t rows = x.dim(-2), columns = x.dim(-1);
  if (rows < 0 || columns < 0)
    fail("diagonal: the size of both axes must be known, got shape ", given.shape());
  offset = diagonal_near(offset, rows, columns);
  const int64_t row = std::max<int64_t>(0, -offset), column = std::max<int64_t>(0, offset);
  const int64_t count = std::max<int64_t>(0, std::min(rows - row, columns - column));
  const Tensor flat = ops::reshape(x, x.shape().slice(0, x.rank() - 2).concat({rows * columns}));
  if (count == 0) return ops::slice_axis(flat, -1, 0, 0);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i) places.push_back((row + i) * columns + column + i);
  return ops::take(flat, Tensor::from(places, {count}), -1);
}

namespace {

using MaybeType = std::optional<DType>;

DType or_float(MaybeType dtype) { return dtype.value_or(DType::float32); }

Tensor from_values(const std::vector<double>& values, DType dtype) {
  return ops::cast(Tensor::from(values, {static_cast<int64_t>(values.size())}), dtype);
}

/// f(i) of each place, worked out in float64; none of them is smaller than `least` or larger than
/// `most`.
template <class F>
Tensor from_places(int64_t count, DType dtype, double least, double most, F f) {
  const auto write = [&]<class T>(T) {
    Tensor result = Tensor::uninitialized({dtype, {count}});
    T* to = reinterpret_cast<T*>(result.storage()->host());
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(f(static_cast<double>(i)));
    return result;
  };
  if (dtype == DType::float32) return write(float());
  if (dtype == DType::float64) return write(double());
  if (dtype == DType::int32 && least >= -0x1p31 && most < 0x1p31) return write(int32_t());
  return ops::cast(from_places(count, DType::float64, least, most, f), dtype);
}

/// float32 as soon as one number is written as a fraction: 3.0.
Tensor arange(const Value& start, const Value& stop, const Value& step, MaybeType dtype) {
  const Value from = stop.is_null() ? Value(0) : start, to = stop.is_null() ? start : stop;
  const Value width = step.is_null() ? Value(1) : step;
  for (const Value& each : {from, to, width})
    if (!each.is_number()) fail("arange: expected numbers, got ", each);
  const double first = from.as_float(), last = to.as_float(), by = width.as_float();
  if (by == 0) fail("arange: the step must not be 0");
  const double count = std::max(0.0, std::ceil((last - first) / by));
  if (!(count < 0x1p40)) fail("arange: ", count, " elements are too many");
  const bool whole = from.is_int() && to.is_int() && width.is_int();
  return from_places(static_cast<int64_t>(count),
                     dtype.value_or(whole ? DType::int32 : DType::float32), std::min(first, last),
                     std::max(first, last), [&](double i) { return first + by * i; });
}

/// Evenly spaced, as doubles.
std::vector<double> spaced(double start, double stop, int64_t num, bool endpoint) {
  std::vector<double> values(static_cast<size_t>(num));
  const auto steps = static_cast<double>(std::max<int64_t>(1, endpoint ? num - 1 : num));
  for (int64_t i = 0; i < num; ++i)
    values[static_cast<size_t>(i)] = start + (stop - start) * static_cast<double>(i) / steps;
  return values;
}

Tensor spaced_numbers(double start, double stop, int64_t num, bool endpoint, DType dtype) {
  const auto steps = static_cast<double>(std::max<int64_t>(1, endpoint ? num - 1 : num));
  return from_places(num, dtype, std::min(start, stop), std::max(start, stop),
                     [&](double i) { return start + (stop - start) * i / steps; });
}

/// Evenly spaced between tensors, along a new axis.
Tensor spaced(const Operand& start, const Operand& stop, int64_t num, bool endpoint, int axis) {
  const auto [first, last] = promoted(start, stop);
  const Tensor from = floating(first), to = floating(last);
  const auto steps = static_cast<double>(std::max<int64_t>(1, endpoint ? num - 1 : num));
  const Tensor width = to - from;
  const int rank = width.rank() + 1, along = axis < 0 ? axis + rank : axis;
  const Tensor share = positions(num, along, rank, width.dtype()) / steps;
  return ops::expand_dims(ops::broadcast_to(from, width.shape()), along) +
         ops::expand_dims(width, along) * share;
}

Value linspace(const Operand& start, const Operand& stop, int64_t num, bool endpoint, bool retstep,
               MaybeType dtype, int axis) {
  checked_count("linspace", num);
  const bool plain = !start.tensor && !stop.tensor;
  const auto [first, last] = promoted(start, stop);
  const Tensor values =
      plain ? spaced_numbers(start.number, stop.number, num, endpoint, or_float(dtype))
            : spaced(start, stop, num, endpoint, axis);
  const Value result = Codec<Tensor>::encode(dtype ? ops::cast(values, *dtype) : values);
  if (!retstep) return result;
  const auto steps = static_cast<double>(std::max<int64_t>(1, endpoint ? num - 1 : num));
  const Tensor step = plain ? Tensor::scalar((stop.number - start.number) / steps)
                            : (floating(last) - floating(first)) / steps;
  return List{result, Codec<Tensor>::encode(step)};
}

/// The dtype of powers, which are float32 where integers are asked for.
MaybeType of_powers(MaybeType dtype) {
  return dtype && !is_floating(*dtype) ? DType::float32 : dtype;
}

Tensor logspace(const Operand& start, const Operand& stop, int64_t num, bool endpoint, double base,
                MaybeType given, int axis) {
  checked_count("logspace", num);
  const MaybeType dtype = of_powers(given);
  if (start.tensor || stop.tensor) {
    const Tensor exponent = spaced(start, stop, num, endpoint, axis);
    const Tensor values = ops::exp(exponent * std::log(base));
    return dtype ? ops::cast(values, *dtype) : values;
  }
  std::vector<double> values = spaced(start.number, stop.number, num, endpoint);
  for (double& x : values) x = std::pow(base, x);
  return from_values(values, or_float(dtype));
}

Tensor geomspace(const Operand& start, const Operand& stop, int64_t num, bool endpoint,
                 MaybeType given, int axis) {
  checked_count("geomspace", num);
  const MaybeType dtype = of_powers(given);
  if (start.tensor || stop.tensor) {
    const auto [first, last] = promoted(start, stop);
    const Tensor values =
        ops::exp(spaced(ops::log(floating(first)), ops::log(floating(last)), num, endpoint, axis));
    return dtype ? ops::cast(values, *dtype) : values;
  }
  if (start.number * stop.number <= 0)
    fail("geomspace: expected ends of one sign, got ", start.number, " and ", stop.number);
  std::vector<double> values = spaced(0, 1, num, endpoint);
  for (double& x : values) x = start.number * std::pow(stop.number / start.number, x);
  return from_values(values, or_float(dtype));
}

/// What the test makes of each column and the column of the k-th diagonal in its row.
template <class Test>
Tensor diagonal_mask(int64_t rows, int64_t columns, int64_t k, Test test) {
  k = diagonal_near(k, rows, columns);
  return test(positions(columns, 1, 2), positions(rows, 0, 2) + k);
}

Tensor eye(int64_t n, std::optional<int64_t> m, int64_t k, MaybeType dtype) {
  const int64_t columns = m.value_or(n);
  if (n < 0 || columns < 0) fail("eye: expected sizes of at least 0, got ", n, " and ", columns);
  k = diagonal_near(k, n, columns);
  Tensor result({n, columns}, or_float(dtype));
  const Tensor one = Tensor::scalar(1, result.dtype());
  const auto bytes = static_cast<int64_t>(size_of(result.dtype()));
  for (int64_t row = std::max<int64_t>(0, -k); row < n && row + k < columns; ++row)
    std::memcpy(result.storage()->host() + (row * columns + row + k) * bytes, one.raw(),
                one.bytes());
  return result;
}

Tensor tri(int64_t n, std::optional<int64_t> m, int64_t k, MaybeType dtype) {
  return ops::cast(diagonal_mask(n, m.value_or(n), k, ops::less_equal), or_float(dtype));
}

Tensor tril(const Tensor& x, int64_t k) {
  const Tensor mask = diagonal_mask(x.dim(-2), x.dim(-1), k, ops::less_equal);
  return ops::where(mask, x, number_like(x, 0));
}
Tensor triu(const Tensor& x, int64_t k) {
  const Tensor mask = diagonal_mask(x.dim(-2), x.dim(-1), k, ops::greater_equal);
  return ops::where(mask, x, number_like(x, 0));
}

Tensor trace(const Tensor& x, int64_t offset, int axis1, int axis2) {
  return ops::sum(diagonal(x, offset, axis1, axis2), {-1});
}

Tensor diagflat(const Tensor& given, int64_t k) {
  const Tensor x = ops::reshape(given, {-1});
  if (x.dim(0) < 0) fail("diagflat: the size must be known, got shape ", given.shape());
  constexpr int64_t kFarthest = int64_t{1} << 30;
  if (k < -kFarthest || k > kFarthest)
    fail("diagflat: expected k from ", -kFarthest, " to ", kFarthest, ", got ", k);
  const int64_t n = x.dim(0), size = n + std::abs(k);
  if (n == 0) return ops::zeros({size, size}, x.dtype());
  // Row after row, elements of the diagonal are so far apart.
  Pad op;
  op.inner = {size}, op.before = {k < 0 ? -k * size : k};
  op.after = {size * size - op.before[0] - ((n - 1) * (size + 1) + 1)};
  return ops::reshape(apply1(op, {x}), {size, size});
}

Tensor diag(const Tensor& x, int64_t k) {
  if (x.rank() == 1) return diagflat(x, k);
  if (x.rank() == 2) return diagonal(x, k, 0, 1);
  fail("diag: expected one or two axes, got shape ", x.shape());
}

Tensor vander(const Tensor& x, std::optional<int64_t> n, bool increasing) {
  if (x.rank() != 1) fail("vander: expected one axis, got shape ", x.shape());
  const int64_t columns = n.value_or(x.dim(0)), most = int64_t{1} << 16;
  if (columns < 0 || columns > most)
    fail("vander: expected 0 to ", most, " columns, got ", columns);
  Tensors powers{ops::ones_like(x)};
  for (int64_t i = 1; i < columns; ++i) powers.push_back(ops::cast(powers.back() * x, x.dtype()));
  powers.resize(static_cast<size_t>(columns));
  if (!increasing) std::reverse(powers.begin(), powers.end());
  return ops::stack(powers, 1);
}

Tensors meshgrid(const Tensors& xs, const std::string& indexing) {
  if (indexing != "xy" && indexing != "ij")
    fail("meshgrid: indexing must be 'xy' or 'ij', got '", indexing, "'");
  const auto count = static_cast<int>(xs.size());
  const auto axis_for = [&](int i) { return indexing == "xy" && count > 1 && i < 2 ? 1 - i : i; };
  std::vector<int64_t> dims(xs.size());
  for (int i = 0; i < count; ++i)
    dims[static_cast<size_t>(axis_for(i))] = xs[static_cast<size_t>(i)].size();
  Tensors grids;
  for (int i = 0; i < count; ++i) {
    Shape shape(std::vector<int64_t>(xs.size(), 1));
    shape.set(axis_for(i), dims[static_cast<size_t>(axis_for(i))]);
    grids.push_back(
        ops::broadcast_to(ops::reshape(xs[static_cast<size_t>(i)], shape), Shape(dims)));
  }
  return grids;
}

// ---- windows: one value for each of `count` places

template <double (*F)(double share)>
Tensor window(int64_t count) {
  checked_count("window", count);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(count == 1 ? 1 : F(static_cast<double>(i) / static_cast<double>(count - 1)));
  return from_values(values, DType::float32);
}

constexpr double kTurn = 2 * std::numbers::pi;
double bartlett(double t) { return 1 - std::abs(2 * t - 1); }
double blackman(double t) {
  return 0.42 - 0.5 * std::cos(kTurn * t) + 0.08 * std::cos(2 * kTurn * t);
}
double hamming(double t) { return 0.54 - 0.46 * std::cos(kTurn * t); }
double hanning(double t) { return 0.5 - 0.5 * std::cos(kTurn * t); }

Tensor kaiser(int64_t count, double beta) {
  checked_count("kaiser", count);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const double t =
        count == 1 ? 0 : 2 * static_cast<double>(i) / static_cast<double>(count - 1) - 1;
    values.push_back(bessel_i(0, beta * std::sqrt(1 - t * t)) / bessel_i(0, beta));
  }
  return from_values(values, DType::float32);
}

Tensor array(const Tensor& x, MaybeType dtype) { return dtype ? ops::cast(x, *dtype) : x; }

Tensor convert_to_tensor(const Tensor& x, MaybeType dtype, std::optional<bool> sparse,
                         std::optional<bool> ragged) {
  for (const auto& [option, on] : {std::pair{"sparse", sparse}, std::pair{"ragged", ragged}})
    if (on.value_or(false)) fail(option, " tensors are not supported: tensors are dense");
  return array(x, dtype);
}

Tensor full_like(const Tensor& x, const Operand& value, MaybeType dtype) {
  return ops::broadcast_to(ops::cast(tensor_of(value), dtype.value_or(x.dtype())), x.shape());
}

template <Tensor (*F)(const Tensor&)>
Tensor like(const Tensor& x, MaybeType dtype) {
  return dtype ? ops::cast(F(x), *dtype) : F(x);
}

template <Tensor (*F)(const Shape&, DType)>
Tensor made(const Shape& shape, MaybeType dtype) {
  return F(shape, or_float(dtype));
}

Tensor full(const Shape& shape, const Operand& value, MaybeType dtype) {
  if (!value.tensor) return ops::full(shape, value.number, or_float(dtype));
  return ops::broadcast_to(ops::cast(value.tensor, or_float(dtype)), shape);
}

}  // namespace

CRESCENT_REGISTER(creation) {
  Operations(registry, "keras.src.ops.core")
      .add("ConvertToTensor", "convert_to_tensor(x, dtype=None, sparse=None, ragged=None)",
           &convert_to_tensor, "A number, a table or a tensor as a tensor of a dtype.");
  Operations(registry, "keras.src.ops.numpy")
      .add("Array", "array(x, dtype=None)", &array, "The same as convert_to_tensor.")
      .add("Zeros", "zeros(shape, dtype=None)", &made<ops::zeros>, "Zeros of a shape.")
      .add("Ones", "ones(shape, dtype=None)", &made<ops::ones>, "Ones of a shape.")
      .add("Empty", "empty(shape, dtype=None)", &made<ops::zeros>, "Zeros, here.")
      .add("Full", "full(shape, fill_value, dtype=None)", &full, "One value in a shape.")
      .add("ZerosLike", "zeros_like(x, dtype=None)", &like<ops::zeros_like>,
           "Zeros in the shape of x.")
      .add("OnesLike", "ones_like(x, dtype=None)", &like<ops::ones_like>, "Ones in the shape of x.")
      .add("EmptyLike", "empty_like(x, dtype=None)", &like<ops::zeros_like>, "Zeros, here.")
      .add("FullLike", "full_like(x, fill_value, dtype=None)", &full_like,
           "One value in the shape of x.")
      .add("Arange", "arange(start, stop=None, step=None, dtype=None)", &arange,
           "start, start + step, ... below stop.")
      .add("Linspace",
           "linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0)",
           &linspace, "Evenly spaced numbers.")
      .add("Logspace", "logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0)",
           &logspace, "base to the power of evenly spaced numbers.")
      .add("Geomspace", "geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0)",
           &geomspace, "Numbers of one ratio to the next.")
      .add("Eye", "eye(N, M=None, k=0, dtype=None)", &eye, "Ones on the k-th diagonal.")
      .add(
          "Identity", "identity(n, dtype=None)",
          [](int64_t n, MaybeType dtype) { return ops::eye(n, n, or_float(dtype)); },
          "A matrix with ones on its diagonal.")
      .add("Tri", "tri(N, M=None, k=0, dtype=None)", &tri, "Ones at and below the k-th diagonal.")
      .add("Tril", "tril(x, k=0)", &tril, "Zeros above the k-th diagonal.")
      .add("Triu", "triu(x, k=0)", &triu, "Zeros below the k-th diagonal.")
      .add("Diag", "diag(x, k=0)", &diag, "A diagonal, or the matrix that has it.")
      .add("Diagflat", "diagflat(x, k=0)", &diagflat,
           "A matrix with these elements on its diagonal k.")
      .add("Diagonal", "diagonal(x, offset=0, axis1=0, axis2=1)", &diagonal,
           "The diagonals of matrices in two axes.")
      .add("Trace", "trace(x, offset=0, axis1=0, axis2=1)", &trace,
           "The sums of the diagonals of matrices in two axes.")
      .add("Vander", "vander(x, N=None, increasing=False)", &vander, "Powers of x in columns.")
      .add("Meshgrid", "meshgrid(*x, indexing='xy')", &meshgrid,
           "The coordinates of the points of a grid, a tensor for each axis.")
      .add("Bartlett", "bartlett(x)", &window<bartlett>, "A triangular window of x numbers.")
      .add("Blackman", "blackman(x)", &window<blackman>, "The Blackman window of x numbers.")
      .add("Hamming", "hamming(x)", &window<hamming>, "The Hamming window of x numbers.")
      .add("Hanning", "hanning(x)", &window<hanning>, "The Hann window of x numbers.")
      .add("Kaiser", "kaiser(x, beta)", &kaiser, "The Kaiser window of x numbers.");
}

}  // namespace crescent::operations

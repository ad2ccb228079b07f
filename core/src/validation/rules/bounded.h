// Values in float64, with a bound of the error that they may have when they are computed in their
// own dtype.
#pragma once
#include <limits>
#include <memory>
#include <vector>

#include "crescent/program/op.h"

namespace crescent::validation {

/// Which rounding errors the error bounds include: `own` stands for those of the dtype of each
/// value; `float64` for those of float64, to compare two programs that are both evaluated in
/// float64.
enum class Rounding : uint8_t { own, float64 };

/// The bound of an undecided element, which may have any value, infinite and NaN too. Arithmetic on
/// bounds propagates it as infinity or as NaN (infinity times 0), which counts as undecided as
/// well.
inline constexpr double kUndecided = std::numeric_limits<double>::infinity();
/// Whether the bound is that of an undecided element.
inline bool is_undecided(double bound) { return !(bound < 1e100); }

/// The largest relative error of rounding to the dtype.
double unit_roundoff(DType dtype, Rounding rounding);
/// The largest absolute error of results in the range of subnormal numbers.
double smallest_number(DType dtype, Rounding rounding);
double largest_number(DType dtype);
/// The largest relative rounding error of an addition in a sum; sums of float16 and bfloat16
/// numbers are computed in float32.
double sum_roundoff(DType dtype, Rounding rounding);

/// The elements of a tensor, stored by dtype in one of `real`, `whole` and `opaque`, with bounds of
/// their errors.
struct Bounded {
  TensorSpec spec;
  std::vector<double> real;    ///< elements of floating dtypes
  std::vector<int64_t> whole;  ///< elements of integer dtypes and bool
  Tensor opaque;               ///< elements that are complex numbers or strings
  /// bound of each element's error, >= 0; empty: all elements are exact
  std::vector<double> bound;

  bool is_real() const { return is_floating(spec.dtype); }
  bool is_whole() const { return is_integer(spec.dtype) || spec.dtype == DType::boolean; }
  size_t size() const { return static_cast<size_t>(spec.shape.size()); }
  double error(size_t i) const { return bound.empty() ? 0 : bound[i]; }
  double number(size_t i) const { return is_real() ? real[i] : static_cast<double>(whole[i]); }
  bool is_exact() const;
  /// Adds `added_error` to the bound of element i.
  void widen(size_t i, double added_error);
  /// Makes elements undecided whose bound is NaN or whose value overflows the dtype.
  void mark_undecided(Rounding rounding);

  static Bounded zeros(const TensorSpec& spec);
  static Bounded undecided(const TensorSpec& spec);
  /// A value without error, except that subnormal numbers get a bound, because devices may flush
  /// them to zero.
  static Bounded of(const Tensor& tensor, Rounding rounding);
};
using BoundedPtr = std::shared_ptr<const Bounded>;

/// The values rounded to the dtype of `spec`.
Tensor rounded(const Bounded& value);
/// The values as float64; integers, booleans, strings and complex numbers keep their dtype.
Tensor widened(const Bounded& value);
/// The number rounded to the dtype.
double rounded_to(double number, DType dtype);
int64_t wrap_around(int64_t number, DType dtype);

}  // namespace crescent::validation

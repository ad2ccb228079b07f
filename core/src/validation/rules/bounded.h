// Values in float64 with a bound of the error that the same value may have when it is computed in
// its own dtype.
#pragma once
#include <limits>
#include <memory>
#include <vector>

#include "crescent/program/op.h"

namespace crescent::validation {

/// Whose roundings are bounded: those of each dtype, or those of float64 for all of them. The
/// latter is for two programs that are both evaluated in float64.
enum class Rounding : uint8_t { own, float64 };

/// The bound of an element that may be anything, infinite and NaN too: it is undecided. What bounds
/// are made of passes it on, as infinity times 0 is no number, and such a bound is undecided as
/// well.
inline constexpr double kUndecided = std::numeric_limits<double>::infinity();
/// Whether the bound says nothing.
inline bool is_undecided(double bound) { return !(bound < 1e100); }

/// The largest relative error of a rounding to the dtype.
double unit_roundoff(DType dtype, Rounding rounding);
/// Errors of results that are too small for normal numbers.
double smallest(DType dtype, Rounding rounding);
double largest(DType dtype);
/// The roundoff of sums, which half widths keep in float32.
double sum_roundoff(DType dtype, Rounding rounding);

/// Elements of a tensor, in `real` or `whole` or (complex numbers, strings) as they are.
struct Bounded {
  TensorSpec spec;
  std::vector<double> real;    ///< of floating dtypes
  std::vector<int64_t> whole;  ///< of integers and bool
  Tensor opaque;               ///< of others
  std::vector<double> bound;   ///< one an element, not negative; none: all are exact

  bool is_real() const { return is_floating(spec.dtype); }
  bool is_whole() const { return is_integer(spec.dtype) || spec.dtype == DType::boolean; }
  size_t size() const { return static_cast<size_t>(spec.shape.size()); }
  double error(size_t i) const { return bound.empty() ? 0 : bound[i]; }
  double number(size_t i) const { return is_real() ? real[i] : static_cast<double>(whole[i]); }
  bool is_exact() const;
  /// Adds to the bound of an element.
  void widen(size_t i, double by);
  /// Bounds are numbers again; what is too large for the dtype is undecided.
  void settle(Rounding rounding);

  static Bounded zeros(const TensorSpec& spec);
  static Bounded undecided(const TensorSpec& spec);
  /// Exact; subnormal numbers, which may count as zero, are bounded.
  static Bounded of(const Tensor& tensor, Rounding rounding);
};
using BoundedPtr = std::shared_ptr<const Bounded>;

/// The values rounded to the dtype `spec` has.
Tensor rounded(const Bounded& value);
/// In float64 instead of another floating dtype.
Tensor widened(const Bounded& value);
/// The number as the dtype holds it.
double as_held(double number, DType dtype);
int64_t wrapped(int64_t number, DType dtype);

}  // namespace crescent::validation

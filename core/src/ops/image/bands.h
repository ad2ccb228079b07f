// Band matrices: linear maps along an axis in which each result depends on a few neighbouring
// elements.
#pragma once
#include "crescent/program/array_op_types.h"

namespace crescent {

/// A banded matrix: element j of the result is the sum over t of weights[j * taps + t] * x[first[j]
/// + t], for x of size `from`.
struct Band {
  int64_t from = 0;
  std::vector<int32_t> first;
  std::vector<double> weights;
  int64_t taps() const {
    return static_cast<int64_t>(weights.size() / std::max<size_t>(first.size(), 1));
  }
  /// Returns the same band matrix with fewer weights in each row, if the first or the last weights
  /// of all rows are zero.
  Band trimmed() const;
};

/// Returns x with one axis multiplied by the band matrix.
Tensor multiplied_by_band(const Tensor& x, const Band& band, int axis);

}  // namespace crescent

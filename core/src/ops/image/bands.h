// Products with banded matrices along an axis: each element of the result is a weighted sum of a
// few neighbouring elements.
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
  /// The band with as few taps as possible: outer weights that are zero are dropped.
  Band trimmed() const;
};

/// x multiplied by the band along one axis.
Tensor times_band(const Tensor& x, const Band& band, int axis);

}  // namespace crescent

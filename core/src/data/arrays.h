// Arrays whose rows with the same index form a sample.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Inputs, targets and sample weights with the same number of rows. `weights` is empty or has one
/// array per output.
struct Arrays {
  Tensors x, y, weights;
  int64_t first_row = 0;  ///< index in the whole data of the first row
  int64_t samples() const { return x.front().dim(0); }
};

/// The bytes of one row of an array.
inline size_t row_bytes(const Tensor& array) {
  return array.bytes() / static_cast<size_t>(array.dim(0));
}
/// The rows [first, first + count) of all arrays.
Arrays rows(const Arrays& arrays, int64_t first, int64_t count);

}  // namespace crescent

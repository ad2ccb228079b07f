// Arrays that belong together, a row of each a sample.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// x, y and weights that belong together; weights: empty, or one an output.
struct Arrays {
  Tensors x, y, weights;
  int64_t samples() const { return x.front().dim(0); }
};

/// Bytes of one sample of an array.
inline size_t row_bytes(const Tensor& array) {
  return array.bytes() / static_cast<size_t>(array.dim(0));
}
/// Rows [first, first + count) of all of them.
Arrays rows(const Arrays& arrays, int64_t first, int64_t count);

}  // namespace crescent

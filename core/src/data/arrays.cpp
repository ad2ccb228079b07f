#include "data/arrays.h"

namespace crescent {

Arrays rows(const Arrays& arrays, int64_t first, int64_t count) {
  auto rows_of = [&](const Tensors& tensors) {
    Tensors row_views;
    for (const Tensor& t : tensors) row_views.push_back(t ? t.view_rows(first, count) : t);
    return row_views;
  };
  return {rows_of(arrays.x), rows_of(arrays.y), rows_of(arrays.weights)};
}

}  // namespace crescent

#include "data/arrays.h"

namespace crescent {

Arrays rows(const Arrays& arrays, int64_t first, int64_t count) {
  auto rows_of = [&](const Tensors& all) {
    Tensors parts;
    for (const Tensor& t : all) parts.push_back(t ? t.view_rows(first, count) : t);
    return parts;
  };
  return {rows_of(arrays.x), rows_of(arrays.y), rows_of(arrays.weights)};
}

}  // namespace crescent

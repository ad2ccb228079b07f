#include "data/arrays.h"

namespace crescent {

Arrays rows(const Arrays& arrays, int64_t first, int64_t count) {
  auto part = [&](const Tensors& all) {
    Tensors parts;
    for (const Tensor& t : all) parts.push_back(t ? t.view_rows(first, count) : t);
    return parts;
  };
  return {part(arrays.x), part(arrays.y), part(arrays.weights)};
}

}  // namespace crescent

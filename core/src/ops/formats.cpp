#include "ops/formats.h"

namespace crescent::ops {

Tensor to_channels_last(const Tensor& x) {
  std::vector<int> order{0};
  for (int i = 2; i < x.rank(); ++i) order.push_back(i);
  order.push_back(1);
  return ops::transpose(x, order);
}
Tensor to_channels_first(const Tensor& x) {
  std::vector<int> order{0, x.rank() - 1};
  for (int i = 1; i + 1 < x.rank(); ++i) order.push_back(i);
  return ops::transpose(x, order);
}

}  // namespace crescent::ops

#include "crescent/training.h"
#include "layer/outside_trace.h"

namespace crescent {

Variable Metric::add_variable(const std::string& name, const Shape& shape, DType dtype) {
  const OutsideTrace outside;
  Variable::Options options;
  options.name = name;
  options.trainable = false;
  return variables_.emplace_back(Tensor(shape, dtype), options);
}

void Metric::reset_state() {
  for (const Variable& v : variables_) v.assign(Tensor(v.shape(), v.dtype()));
}

}  // namespace crescent

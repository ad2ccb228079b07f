#include "crescent/layer/metric.h"
#include "crescent/program/device.h"
#include "layer/calls/outside_trace.h"

namespace crescent {
namespace {

/// Allocates zeros in the memory of the device in use.
Tensor zeros(const TensorSpec& spec) {
  Memory* memory = device().memory();
  if (!memory) return Tensor(spec);
  return Tensor::on(memory->allocate(spec.bytes()), 0, spec);
}

}  // namespace

Variable Metric::add_variable(const std::string& name, const Shape& shape, DType dtype) {
  const OutsideTrace outside_trace;
  Variable::Options options;
  options.name = name;
  options.trainable = false;
  return variables_.emplace_back(Tensor(shape, dtype), options);
}

void Metric::describe_options(Schema<Metric>& s) {
  s.field("name", &Metric::name_, "Name in the logs.")
      .field("dtype", &Metric::dtype_, "Dtype of the state.");
}

void Metric::set_name(std::string name) { name_ = std::move(name); }

void Metric::reset_state() {
  for (const Variable& v : variables_) v.assign(zeros(v.spec()));
}

}  // namespace crescent

#include "crescent/layer/metric.h"

#include <algorithm>

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

Variables Metric::variables() const {
  Variables variables = variables_;
  for (const auto& metric : inner_metrics_)
    for (const Variable& v : metric->variables()) variables.push_back(v);
  return variables;
}

void Metric::track(const Variable& variable) {
  if (std::find(variables_.begin(), variables_.end(), variable) == variables_.end())
    variables_.push_back(variable);
}

void Metric::track(const std::shared_ptr<Metric>& metric) {
  if (metric.get() != this &&
      std::find(inner_metrics_.begin(), inner_metrics_.end(), metric) == inner_metrics_.end())
    inner_metrics_.push_back(metric);
}

void Metric::reset_state() {
  for (const Variable& v : variables()) v.assign(zeros(v.spec()));
}

}  // namespace crescent

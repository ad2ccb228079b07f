#include "model/flops.h"

#include "layer/built_for.h"
#include "layer/calls/outside_trace.h"
#include "layer/layer_access.h"
#include "program/op_flops.h"

namespace crescent {
namespace {

TensorSpecs inputs_of(const Model& model) {
  TensorSpecs specs;
  if (model.is_graph())
    for (const Symbol& symbol : model.inputs()) specs.push_back(symbol.spec());
  else
    for (const Shape& shape : built_for(model)) specs.push_back({model.compute_dtype(), shape});
  if (specs.empty()) fail("flops: the inputs are unknown; call the model first");
  return specs;
}

/// The input specs with a batch size of 1; fixed batch sizes are kept.
TensorSpecs sample_of(const TensorSpecs& inputs) {
  TensorSpecs sample = inputs;
  for (TensorSpec& spec : sample) {
    const Shape spec_shape = spec.shape;
    if (spec_shape.rank() > 0 && spec_shape[0] < 0) spec.shape.set(0, 1);
    if (!spec.shape.is_known())
      fail("flops: only the batch size may be unknown, got inputs ", spec_shape);
  }
  return sample;
}

/// The batch size in the input specs; 1 if the first input is a scalar.
double samples_in(const TensorSpecs& sample) {
  return sample[0].shape.rank() == 0 ? 1 : static_cast<double>(sample[0].shape[0]);
}

Program forward_pass(Model& model, const TensorSpecs& sample) {
  const OutsideTrace outside_trace;
  const CallOptions call{.training = false};
  Program program = trace([&](const Tensors& inputs) { return model(inputs, call); }, sample);
  LayerAccess::forget_losses(model);
  return program;
}

/// Returns the path of the layer within the model that recorded the scope; "" if the model itself
/// recorded it.
std::string path_below(const Model& model, const std::string& scope) {
  const std::string prefix = model.name() + "/";
  return scope.starts_with(prefix) ? scope.substr(prefix.size()) : "";
}

}  // namespace

LayerFlops flops_by_layer(const Model& model) {
  const StepLock lock(model);
  const TensorSpecs sample = sample_of(inputs_of(model));
  // a call on abstract tensors does not change the model in spite of the const_cast
  const Program program = forward_pass(const_cast<Model&>(model), sample);
  LayerFlops flops;
  for (const auto& [scope, count] : flops_by_scope(program))
    flops[path_below(model, scope)] += count / samples_in(sample);
  return flops;
}

double flops_below(const LayerFlops& flops, const std::string& path) {
  double sum = 0;
  for (const auto& [layer, count] : flops)
    if (layer == path || layer.starts_with(path + "/")) sum += count;
  return sum;
}

double flops_of(const Model& model) {
  double sum = 0;
  for (const auto& [layer, count] : flops_by_layer(model)) sum += count;
  return sum;
}

}  // namespace crescent

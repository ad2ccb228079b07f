#include "model/flops.h"

#include "layer/built_input_shapes.h"
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
    for (const Shape& shape : built_input_shapes(model))
      specs.push_back({model.compute_dtype(), shape});
  if (specs.empty()) fail("flops: the inputs are unknown; call the model first");
  return specs;
}

/// Sets unknown batch sizes of the inputs to 1; known batch sizes are kept.
TensorSpecs with_batch_size_1(const TensorSpecs& input_specs) {
  TensorSpecs sample_specs = input_specs;
  for (TensorSpec& spec : sample_specs) {
    const Shape spec_shape = spec.shape;
    if (spec_shape.rank() > 0 && spec_shape[0] < 0) spec.shape.set(0, 1);
    if (!spec.shape.is_known())
      fail("flops: only the batch size may be unknown, got inputs ", spec_shape);
  }
  return sample_specs;
}

/// The batch size of the first input; 1 if it is a scalar.
double batch_size_of(const TensorSpecs& sample_specs) {
  return sample_specs[0].shape.rank() == 0 ? 1 : static_cast<double>(sample_specs[0].shape[0]);
}

Program forward_pass(Model& model, const TensorSpecs& sample_specs) {
  const OutsideTrace outside_trace;
  const CallOptions call{.training = false};
  Program program = trace([&](const Tensors& inputs) { return model(inputs, call); }, sample_specs);
  LayerAccess::forget_losses(model);
  return program;
}

/// Ops are recorded in a scope, the path of the layer that applies them. Returns this path without
/// the name of the model; "" for ops of the model itself.
std::string path_within(const Model& model, const std::string& scope) {
  const std::string prefix = model.name() + "/";
  return scope.starts_with(prefix) ? scope.substr(prefix.size()) : "";
}

}  // namespace

LayerFlops flops_by_layer(const Model& model) {
  const StepLock lock(model);
  const TensorSpecs sample_specs = with_batch_size_1(inputs_of(model));
  // const_cast is allowed, because a call on abstract tensors does not change the model.
  const Program program = forward_pass(const_cast<Model&>(model), sample_specs);
  LayerFlops flops;
  for (const auto& [scope, count] : flops_by_scope(program))
    flops[path_within(model, scope)] += count / batch_size_of(sample_specs);
  return flops;
}

double flops_of_subtree(const LayerFlops& flops, const std::string& path) {
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

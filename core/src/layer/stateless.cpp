#include "crescent/layer/stateless.h"

#include <unordered_set>

#include "layer/layer_access.h"

namespace crescent {
namespace {

StatelessScope::Mapping joined_mapping(StatelessScope::Mapping first,
                                       const StatelessScope::Mapping& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Pairs variables with values. Fails for lists of different lengths; the message is that of Keras
/// and contains the name of the argument, the class of the object, and the name of the property
/// that lists the variables.
StatelessScope::Mapping mapping_of(const Variables& variables, std::span<const Tensor> values,
                                   const char* argument, const std::string& class_name,
                                   const char* property) {
  if (values.size() != variables.size())
    fail("Argument `", argument, "` must be a list of tensors corresponding 1:1 to ", class_name,
         "().", property, ". Received list with length ", values.size(), ", but expected ",
         variables.size(), " variables.");
  StatelessScope::Mapping mapping;
  for (size_t i = 0; i < values.size(); ++i) mapping.emplace_back(variables[i], values[i]);
  return mapping;
}

}  // namespace

Variables non_trainable_state(const Layer& layer) {
  std::unordered_set<const void*> trainable_ids;
  for (const Variable& v : layer.trainable_weights()) trainable_ids.insert(v.id());
  Variables variables = state_variables(layer);
  std::erase_if(variables, [&](const Variable& v) { return trainable_ids.contains(v.id()); });
  return variables;
}

StatelessCall stateless_call(Layer& layer, std::span<const Tensor> trainable,
                             std::span<const Tensor> non_trainable,
                             const std::function<Tensors()>& call) {
  if (!layer.built())
    fail_in_layer(layer.name(), "To call stateless_call, ", layer.class_name(),
                  " must be built (i.e. its variables must have been already created). You can ",
                  "build it by calling it on some data.");
  const Variables state = non_trainable_state(layer);
  const StatelessScope scope(
      joined_mapping(mapping_of(layer.trainable_weights(), trainable, "trainable_variables",
                                layer.class_name(), "trainable_variables"),
                     mapping_of(state, non_trainable, "non_trainable_variables", layer.class_name(),
                                "non_trainable_variables")));
  StatelessCall result;
  result.outputs = call();
  result.losses = layer.losses();
  result.non_trainable = scope.current_values(state);
  LayerAccess::forget_losses(layer);
  return result;
}

StatelessCall stateless_call(Layer& layer, std::span<const Tensor> trainable,
                             std::span<const Tensor> non_trainable, const Tensors& inputs,
                             const CallOptions& options) {
  return stateless_call(layer, trainable, non_trainable, [&] { return layer(inputs, options); });
}

StatelessUpdate stateless_apply(Optimizer& optimizer, std::span<const Tensor> state,
                                std::span<const Tensor> gradients,
                                std::span<const Tensor> trainable) {
  const std::string name = optimizer.class_name();
  if (!optimizer.built())
    fail("To call `stateless_apply`, ", name, " must be built (i.e. its variables must have been ",
         "created). You can build it via `optimizer.build(trainable_variables)`.");
  const Field* property = members_of<Optimizer>().find_property("trainable_variables");
  const Variables own_state = optimizer.state(),
                  variables = Codec<Variables>::decode(property->access->get(&optimizer));
  const StatelessScope scope(joined_mapping(
      mapping_of(variables, trainable, "trainable_variables", name, "trainable_variables"),
      mapping_of(own_state, state, "optimizer_variables", name, "variables")));
  optimizer.apply(gradients, variables);
  return {scope.current_values(variables), scope.current_values(own_state)};
}

StatelessScope::Mapping mapping_of(const Metric& metric, std::span<const Tensor> state) {
  return mapping_of(metric.variables(), state, "metric_variables", metric.class_name(),
                    "variables");
}

Tensors stateless_update_state(Metric& metric, std::span<const Tensor> state, const Tensor& y_true,
                               const Tensor& y_pred, const Tensor& sample_weight) {
  const StatelessScope scope(mapping_of(metric, state));
  metric.update_state(y_true, y_pred, sample_weight);
  return scope.current_values(metric.variables());
}

Tensor stateless_result(const Metric& metric, std::span<const Tensor> state) {
  const StatelessScope scope(mapping_of(metric, state));
  return metric.result();
}

Tensors stateless_reset_state(Metric& metric) {
  const StatelessScope scope;
  metric.reset_state();
  return scope.current_values(metric.variables());
}

}  // namespace crescent

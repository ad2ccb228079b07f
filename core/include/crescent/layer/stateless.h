// Stateless forms of layers, optimizers and metrics: functions of the values of their variables,
// which return the changed values and leave the variables as they are.
#pragma once
#include <functional>
#include <span>

#include "crescent/layer/layer.h"
#include "crescent/layer/metric.h"
#include "crescent/layer/optimizer.h"
#include "crescent/program/stateless_scope.h"

namespace crescent {

/// The weights of a layer and the states of its random generators, each once: those of the layer
/// itself, then those of its sublayers.
CRESCENT_API Variables state_variables(const Layer& layer);
/// The state_variables() that are not trainable weights.
CRESCENT_API Variables non_trainable_state(const Layer& layer);

struct CRESCENT_API StatelessCall {
  Tensors outputs;
  Tensors non_trainable;  ///< the values of non_trainable_state() after the call
  Tensors losses;         ///< Layer::losses() of the call
};
/// Calls a layer with these values of trainable_weights() and non_trainable_state(). Fails if the
/// layer is not built, and for lists of another length.
CRESCENT_API StatelessCall stateless_call(Layer& layer, std::span<const Tensor> trainable,
                                          std::span<const Tensor> non_trainable,
                                          const Tensors& inputs, const CallOptions& options = {});

/// As above, but the layer is called by the function `call`, which returns the outputs.
CRESCENT_API StatelessCall stateless_call(Layer& layer, std::span<const Tensor> trainable,
                                          std::span<const Tensor> non_trainable,
                                          const std::function<Tensors()>& call);

/// A step of an optimizer: the values of its variables and of the variables that it updates.
struct CRESCENT_API StatelessUpdate {
  Tensors trainable, optimizer;
};
/// Computes the update from the values of Optimizer::state(), a gradient for each variable with
/// which the optimizer was built (an empty Tensor where there is none), and the values of these
/// variables. Fails if the optimizer is not built, and for lists of another length.
CRESCENT_API StatelessUpdate stateless_apply(Optimizer& optimizer, std::span<const Tensor> state,
                                             std::span<const Tensor> gradients,
                                             std::span<const Tensor> trainable);

// The following functions take and return the values of Metric::variables(); they fail for lists of
// another length.
CRESCENT_API Tensors stateless_update_state(Metric& metric, std::span<const Tensor> state,
                                            const Tensor& y_true, const Tensor& y_pred,
                                            const Tensor& sample_weight = {});
CRESCENT_API Tensor stateless_result(const Metric& metric, std::span<const Tensor> state);
/// Returns the state of a metric before its first batch.
CRESCENT_API Tensors stateless_reset_state(Metric& metric);

/// Pairs the variables of a metric with values, for a StatelessScope.
CRESCENT_API StatelessScope::Mapping mapping_of(const Metric& metric,
                                                std::span<const Tensor> state);

}  // namespace crescent

// Compares a model before a change of its graph with the model after it, layer by layer.
#pragma once
#include <functional>

#include "crescent/model/surgery.h"

namespace crescent {

/// The layers of a model that a change of the graph has replaced or inserted.
struct ChangedLayers {
  LayerPtr old_nested_model{};  ///< a nested model before the change
  LayerPtr new_nested_model{};  ///< the model that replaces old_nested_model
  LayerPtr inserted_layer{};
  /// The number of weights of `inserted_layer` that got the values of the old layer's weights.
  size_t copied_weight_count = 0;
  bool inserted_was_built = false;  ///< whether `inserted_layer` had weights before the change
};
std::vector<LayerChange> changes_between(const Model& old_model, const Model& new_model,
                                         const ChangedLayers& changed_layers);

}  // namespace crescent

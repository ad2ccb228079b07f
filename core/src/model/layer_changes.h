// Compares two models layer by layer, for the report of a graph operation.
#pragma once
#include <functional>

#include "crescent/model/surgery.h"

namespace crescent {

/// The layers of a model that a graph operation has changed.
struct ChangedLayers {
  LayerPtr old{};             ///< a nested model before the change
  LayerPtr replacement{};     ///< the same nested model after the change
  LayerPtr inserted_layer{};  ///< the inserted layer
  size_t copied_weights = 0;  ///< weights of `inserted_layer` with values of the old layer
  bool was_built = false;     ///< whether `inserted_layer` had weights before the operation
};
std::vector<LayerChange> changes_between(const Model& before, const Model& after,
                                         const ChangedLayers& changed);

}  // namespace crescent

// Compares two models layer by layer, for the report of a graph operation.
#pragma once
#include <functional>

#include "crescent/model/surgery.h"

namespace crescent {

/// The layers of a model that a graph operation has changed.
struct Changed {
  LayerPtr old{}, by{};    ///< a nested model before (old) and after the change (by)
  LayerPtr fresh{};        ///< the inserted layer
  size_t carried = 0;      ///< number of weights of `fresh` that got values of the old layer
  bool was_built = false;  ///< whether `fresh` had weights before the operation
};
std::vector<LayerChange> changes_between(const Model& before, const Model& after,
                                         const Changed& changed);

}  // namespace crescent

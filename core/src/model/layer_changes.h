// Compares two models layer by layer, for the report of a graph operation.
#pragma once
#include <functional>

#include "crescent/model/surgery.h"

namespace crescent {

/// The layers that an operation has changed.
struct Changed {
  LayerPtr old{}, by{};    ///< a nested model and the one that it became
  LayerPtr fresh{};        ///< the inserted layer
  size_t carried = 0;      ///< how many weights of `fresh` took over old values
  bool was_built = false;  ///< whether it had weights before
};
std::vector<LayerChange> changes_between(const Model& before, const Model& after,
                                         const Changed& changed);

}  // namespace crescent

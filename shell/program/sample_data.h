// Numbers without a pattern for a model's inputs and targets.
#pragma once
#include "crescent/model/model.h"

namespace crescent::program {

/// A few samples for a graph; indices where an Embedding reads them.
Tensors inputs_for(const Model& graph);
/// Targets that the losses take: numbers like an output, or classes, as each of them wants.
Tensors targets_for(Model& model, const Tensors& x);

}  // namespace crescent::program

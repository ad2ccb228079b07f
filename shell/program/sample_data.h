// Pseudo-random numbers as inputs and targets of a model.
#pragma once
#include "crescent/model/model.h"

namespace crescent::program {

/// A few samples for the inputs of a graph; an input that an Embedding reads gets indices.
Tensors inputs_for(const Model& graph);
/// Targets that the model's losses accept: for each output numbers of its shape, or class numbers.
Tensors targets_for(Model& model, const Tensors& x);

}  // namespace crescent::program

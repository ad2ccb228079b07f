// cr.models.clone_model: copies a model. Functions of the user may choose the layers of the copy
// and make the calls of its layers.
#pragma once
#include "crescent/model/model.h"
#include "values/read.h"

namespace crescent::lua {

/// Returns a model of the same architecture with new weights. `clone_function` returns the layer
/// that takes the place of a layer of the model or, if `recursive` is set, of a nested model;
/// `call_function` calls the layers of a graph; the symbols `input_tensors` become the inputs of
/// the copy.
ModelPtr clone_of(Model& model, Any input_tensors, const Value& clone_function,
                  const Value& call_function, bool recursive);

}  // namespace crescent::lua

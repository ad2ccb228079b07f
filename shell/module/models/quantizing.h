// The method quantize() of models and layers in Lua.
#pragma once
#include "crescent/model/quantize.h"
#include "values/read.h"

namespace crescent::lua {

void quantize_layer(Layer& layer, const Value& mode, const Value& config,
                    bool include_convolutions);
/// Quantizes all layers that support it and that `filters` selects: nil (all layers), a regular
/// expression for layer names or a list of them, or a function of a layer.
void quantize_model(Model& model, const Value& mode, const Value& config, Any filters,
                    bool include_convolutions);

}  // namespace crescent::lua

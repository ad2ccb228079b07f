// quantize() in Lua: layers that can be have a method of that name.
#pragma once
#include "crescent/model/model.h"
#include "values/read.h"

namespace crescent::lua {

/// "int8"; nothing for floats.
std::optional<std::string> quantization_mode(const Layer& layer);
void quantize_layer(Layer& layer, std::optional<std::string> mode, const Value& config);
/// Of every layer that can be. `filters`: nil, a regular expression that names match, several of
/// them, or a function of a layer.
void quantize_model(Model& model, std::optional<std::string> mode, const Value& config,
                    Any filters);

}  // namespace crescent::lua

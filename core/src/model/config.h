// From configurations to layers and models.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

/// model_from_config for configurations in core's own form.
ModelPtr model_from_own_config(const Value& config);
/// {"class_name": ..., "config": {...}} -> a layer or model. Fails "Unknown layer: X" with a
/// suggestion.
LayerPtr layer_from_config(const Dict& object);
/// The config of Sequential: {name, layers, build_input_shape?}.
std::shared_ptr<Sequential> sequential_from_config(const Dict& config);
/// The config of a functional model: {name, layers, input_layers, output_layers}.
std::shared_ptr<Functional> functional_from_config(const Dict& config);

}  // namespace crescent

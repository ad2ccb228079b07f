// Makes layers and models from configurations.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

/// Decodes a shape, or a list of shapes.
std::vector<Shape> shapes_from(const Value& value);
/// Makes a model from a configuration in Crescent's own form: like model_from_config, but without
/// translating configurations of Keras.
ModelPtr model_from_own_config(const Value& config);
/// Makes a layer or a model from {"class_name": ..., "config": {...}}. Fails with "Unknown layer:
/// X" and a suggestion.
LayerPtr layer_from_config(const Dict& object);
/// Makes a Sequential from its config: {name, layers, build_input_shape?}.
std::shared_ptr<Sequential> sequential_from_config(const Dict& config);
/// Makes a Functional from its config: {name, layers, input_layers, output_layers}.
std::shared_ptr<Functional> functional_from_config(const Dict& config);

}  // namespace crescent

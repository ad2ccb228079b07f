// Writes configurations in a form that Keras 2.3.1, tf.keras and Keras 3 can read: input layers are
// explicit, all names are included, and an option that one of these versions lacks is only written
// if it has an effect.
#pragma once
#include <string>

#include "crescent/layer/layer.h"
#include "keras/export.h"

namespace crescent::keras {

/// Converts the configuration of a model for a generation of Keras, "keras3" or "keras2".
/// `built_model` is the model itself. It is needed if the configuration refers to functions of Lua,
/// because no model can be built from such a configuration.
CRESCENT_KERAS_API Value keras_model_config(const Value& model,
                                            const std::string& target_generation,
                                            const Layer* built_model = nullptr);
/// Whether the arguments of a call contain an edge of the graph or a constant tensor.
bool has_edge(const Value& arguments);
/// Converts the value of an option that holds an object of this kind, or several such objects.
Value keras_value(const Value& value, const std::string& kind,
                  const std::string& target_generation);

}  // namespace crescent::keras

// Configurations in a form that Keras 2.3.1, tf.keras and Keras 3 can read: with explicit input
// layers, all names, and no option that one of them lacks unless it has an effect.
#pragma once
#include <string>

#include "crescent/layer/layer.h"
#include "keras/export.h"

namespace crescent::keras {

/// `target` is "keras3" or "keras2", for differences between the two. `made` is the model itself,
/// which cannot be made of its configuration if that has functions of Lua.
CRESCENT_KERAS_API Value keras_model_config(const Value& model, const std::string& target,
                                            const Layer* made = nullptr);
/// Whether the arguments of a call contain an edge of the graph or a constant tensor.
bool has_edge(const Value& arguments);
/// The value of an option that is an object of this kind, or several objects.
Value keras_value(const Value& value, const std::string& kind, const std::string& target);

}  // namespace crescent::keras

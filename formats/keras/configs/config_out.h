// Our configurations in the words that Keras 2.3.1, tf.keras and Keras 3 all read: explicit input
// layers, fixed names, and no option that one of them lacks unless it says something.
#pragma once
#include <string>

#include "crescent/layer/layer.h"
#include "keras/export.h"

namespace crescent::keras {

/// `target`: "keras3" or "keras2", where the two contradict each other. `made`: the model itself;
/// by its configuration alone none can be made again that has functions of Lua in it.
CRESCENT_KERAS_API Value keras_model_config(const Value& model, const std::string& target,
                                            const Layer* made = nullptr);
/// An edge of the graph or a constant tensor somewhere in the arguments of a call.
bool has_edge(const Value& arguments);
/// Whatever stands for an object of this kind, or for several.
Value keras_value(const Value& value, const std::string& kind, const std::string& target);

}  // namespace crescent::keras

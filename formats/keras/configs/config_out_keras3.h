// Our configurations in Keras 3's own form: objects say the module of their class, calls are
// {"args", "kwargs"} of tensors with shapes.
#pragma once
#include <optional>

#include "crescent/base/value.h"
#include "crescent/layer/layer.h"
#include "keras/export.h"

namespace crescent::keras {

/// Keras gives names to inputs of this layer: value, initial_state.
bool names_inputs(const std::string& class_name);

/// An option of ours that a class of Keras 3 does not take; "": there is no such class.
bool keras3_lacks(const std::string& class_name, const std::string& option);
/// A value that it takes from nobody.
bool keras3_refuses(const std::string& class_name, const std::string& option, const Value& value);
/// Keras 3 has the class among its own parts, not among the names for users.
bool keras3_hides(const std::string& class_name);

/// {"class_name", "config"} of a kind of class, with what Keras 3 finds the class by.
Dict with_module(const std::string& kind, const Dict& written);

/// A function of somebody's own, wherever Keras 3 has objects inside others.
Dict function_object(const std::string& name);

/// A Lambda of a built-in function as the Activation that every generation reads; nothing for other
/// layers and functions.
std::optional<Dict> activation_of_lambda(const std::string& class_name, const Dict& config);

/// Where a model begins or ends: one reference, a list of them, or a table when they have names.
Value keras3_ends(const List& references, const Value* structure);

/// incompatibilities.h says what of a model gets lost.
CRESCENT_KERAS_API Value keras3_model_config(const Value& model);
/// A layer, or a model, by itself.
Value keras3_layer_config(const Layer& layer);

}  // namespace crescent::keras

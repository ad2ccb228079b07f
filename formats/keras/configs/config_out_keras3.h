// Configurations in the form of Keras 3: objects have the module of their class, calls are {"args",
// "kwargs"} of tensors with shapes.
#pragma once
#include <optional>

#include "crescent/base/value.h"
#include "crescent/layer/layer.h"
#include "keras/export.h"

namespace crescent::keras {

/// Whether Keras has names for inputs of this layer: value, initial_state.
bool names_inputs(const std::string& class_name);

/// Whether a class of Keras 3 lacks an option of Crescent; with "", whether it lacks the class.
bool keras3_lacks(const std::string& class_name, const std::string& option);
/// Whether a class of Keras 3 refuses a value of an option.
bool keras3_refuses(const std::string& class_name, const std::string& option, const Value& value);
/// Whether Keras 3 has the class but does not export it, so that files name its module.
bool is_unexported_in_keras3(const std::string& class_name);

/// {"class_name", "config"} of an object of this kind with the module and the registered name.
Dict with_module(const std::string& kind, const Dict& written);

/// A function of the user, in the form of a nested object of Keras 3.
Dict function_object(const std::string& name);

/// A Lambda of a built-in function as an Activation, which all generations read; nullopt for other
/// layers and functions.
std::optional<Dict> activation_of_lambda(const std::string& class_name, const Dict& config);

/// The inputs or the outputs of a model: a reference, a list of references, or a dictionary by
/// names.
Value keras3_ends(const List& references, const Value* structure);

/// The configuration of a model; incompatibilities_of() lists what it cannot express.
CRESCENT_KERAS_API Value keras3_model_config(const Value& model);
/// The configuration of a single layer or model.
Value keras3_layer_config(const Layer& layer);

}  // namespace crescent::keras

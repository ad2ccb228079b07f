// Configurations in the form of Keras 3: objects have the module of their class, calls are {"args",
// "kwargs"} of tensors with shapes.
#pragma once
#include <optional>

#include "crescent/base/value.h"
#include "crescent/layer/layer.h"
#include "keras/export.h"

namespace crescent::keras {

/// Whether Keras lets callers pass inputs of this layer by name, such as `value` or
/// `initial_state`.
bool names_inputs(const std::string& class_name);

/// Whether a class lacks in Keras 3 an option that it has in Crescent; with an empty option,
/// whether Keras 3 lacks the class.
bool keras3_lacks(const std::string& class_name, const std::string& option);
/// Whether a class of Keras 3 refuses a value of an option.
bool keras3_refuses(const std::string& class_name, const std::string& option, const Value& value);
/// Whether Keras 3 has the class but does not export it, so that files must name its module.
bool is_unexported_in_keras3(const std::string& class_name);

/// The object {"class_name", "config"} with two more keys, the Python module and the registered
/// name of its class.
Dict with_module(const std::string& kind, const Dict& written_object);

/// The nested object by which Keras 3 refers to a function of the user.
Dict function_object(const std::string& name);

/// Converts a Lambda that calls a built-in function to an Activation, which all generations of
/// Keras read; nullopt for other layers and functions.
std::optional<Dict> activation_of_lambda(const std::string& class_name, const Dict& config);

/// The inputs or the outputs of a model in the form of Keras 3: a reference, a list of references,
/// or a dictionary of references by name.
Value keras3_endpoints(const List& references, const Value* structure);

/// The configuration of a model. It omits what Keras 3 cannot express; incompatibilities_of() lists
/// these parts.
CRESCENT_KERAS_API Value keras3_model_config(const Value& model);
/// The configuration of a single layer or model.
Value keras3_layer_config(const Layer& layer);

}  // namespace crescent::keras

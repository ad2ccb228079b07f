// Our configurations in Keras 3's own form: objects say the module of their class, calls are
// {"args", "kwargs"} of tensors with shapes.
#pragma once
#include "crescent/value.h"

namespace crescent::keras {

/// Keras gives names to inputs of this layer: value, initial_state.
bool names_inputs(const std::string& class_name);

/// An option of ours that a class of Keras 3 does not take.
bool keras3_lacks(const std::string& class_name, const std::string& option);

/// {"class_name", "config"} of a kind of class, with what Keras 3 finds the class by.
Dict with_module(const std::string& kind, const Dict& written);

/// Where a model begins or ends: one reference, a list of them, or a table when they have names.
Value keras3_ends(const List& references, const Value* keys);

/// limits.h says what of a model gets lost.
Value keras3_model_config(const Value& model);

}  // namespace crescent::keras

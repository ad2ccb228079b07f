// Converts configurations of Keras 1 to the classes and options of Keras 2; config_in.h then
// converts those to Crescent's form.
#pragma once
#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

/// Converts a model or layer, {"class_name", "config"}, to the form of Keras 2. Fails for features
/// that later versions of Keras and Crescent lack.
CRESCENT_KERAS_API Value from_keras1(const Value& object);

/// Whether a model without a version has classes or options that only Keras 1 has.
bool is_keras1(const Value& model);

}  // namespace crescent::keras

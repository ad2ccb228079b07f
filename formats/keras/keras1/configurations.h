// Configurations of Keras 1 in the words of Keras 2. What a word means is then told by the version,
// as for files of Keras 2 (config_in).
#pragma once
#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

/// A model or layer, {"class_name", "config"}. Fails on what no later Keras and nothing here has.
CRESCENT_KERAS_API Value from_keras1(const Value& object);

/// Whether a model that does not say its version has words that only Keras 1 has.
bool speaks_keras1(const Value& model);

}  // namespace crescent::keras

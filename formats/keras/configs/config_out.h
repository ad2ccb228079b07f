// Our configurations in the words that Keras 2.3.1, tf.keras and Keras 3 all read: explicit input
// layers, fixed names, and no option that one of them lacks unless it says something.
#pragma once
#include <string>

#include "crescent/value.h"

namespace crescent::keras {

/// `target`: "keras3" or "keras2", where the two contradict each other (calls of a model inside a
/// model).
Value keras_model_config(const Value& model, const std::string& target);

/// Arguments of compile as given -> training_config.
Value keras_training_config(const Value& compile);

}  // namespace crescent::keras

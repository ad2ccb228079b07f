// Converts arguments of compile to training_config of an .h5 and compile_config of an archive:
// losses and metrics are names of functions, and options are those of the generation of Keras that
// is to read the file.
#pragma once
#include <optional>
#include <string>

#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

/// Returns null if only Crescent can compile the model again, because a function has no name.
CRESCENT_KERAS_API Value keras_training_config(const Value& compile, const std::string& target);
/// The compile_config of archives: objects have the module of their class. Empty instead of null.
CRESCENT_KERAS_API Dict keras3_compile_config(const Value& compile);

/// Whether Keras 2.3.1 has the metric only as a class and not as a function: it writes such objects
/// to files but cannot read them.
bool keras2_has_no_function(const std::string& metric);

/// "accuracy" or "acc" for a metric object that Keras 2 chooses for this text with a binary loss;
/// nullopt for others.
std::optional<std::string> picked_by_keras2(const Value& metric);

}  // namespace crescent::keras

// Converts arguments of compile to the training_config of an .h5 file and the compile_config of an
// archive: losses and metrics are names of functions, and options are those of the generation of
// Keras that is to read the file.
#pragma once
#include <optional>
#include <string>

#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

/// The training_config for `target_generation`; null if it contains a function without a name. Then
/// only Crescent can compile the loaded model.
CRESCENT_KERAS_API Value keras_training_config(const Value& compile,
                                               const std::string& target_generation);
/// The compile_config of archives, in which objects have the Python module of their class. It is
/// empty if keras_training_config() returns null.
CRESCENT_KERAS_API Dict keras3_compile_config(const Value& compile);

/// Whether Keras 2.3.1 has the metric only as a class, not as a function. Keras 2.3.1 writes
/// objects of such classes to files but cannot read them.
bool keras2_has_no_function(const std::string& metric);

/// Returns the name that stands for `metric` in a configuration of Keras 2. If the loss is binary,
/// Keras 2 takes "accuracy" and "acc" for a binary metric; for this metric the result is that name,
/// for other metrics nullopt.
std::optional<std::string> metric_chosen_by_keras2(const Value& metric);

}  // namespace crescent::keras

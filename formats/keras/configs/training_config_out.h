// Arguments of compile as training_config of an .h5 and compile_config of an archive: losses and
// metrics by the names of their functions, options that the generation has.
#pragma once
#include <optional>
#include <string>

#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

/// Null when nobody but us can compile the model again: a function without a name is among them.
CRESCENT_KERAS_API Value keras_training_config(const Value& compile, const std::string& target);
/// The same for Keras 3's archives: objects say the module of their class. Empty instead of null.
CRESCENT_KERAS_API Dict keras3_compile_config(const Value& compile);

/// Metrics of Keras 2.3.1 are functions or objects; this class is an object only, which it writes
/// into files and does not read from them.
bool keras2_has_no_function(const std::string& metric);

/// "accuracy" or "acc" of an object that is what Keras 2 takes the text for beside a binary loss.
std::optional<std::string> picked_by_keras2(const Value& metric);

}  // namespace crescent::keras

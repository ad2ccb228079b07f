// Arguments of compile as training_config of an .h5 and compile_config of an archive: losses and
// metrics by the names of their functions, options that the generation has.
#pragma once
#include <string>

#include "crescent/value.h"

namespace crescent::keras {

/// Null when nobody but us can compile the model again: a function without a name is among them.
Value keras_training_config(const Value& compile, const std::string& target);
/// The same for Keras 3's archives: objects say the module of their class. Empty instead of null.
Dict keras3_compile_config(const Value& compile);

}  // namespace crescent::keras

// Our configurations in Keras 3's own form: objects say the module of their class, calls are
// {"args", "kwargs"} of tensors with shapes.
#pragma once
#include "crescent/value.h"

namespace crescent::keras {

/// Fails naming what Keras 3 has no words for.
Value keras3_model_config(const Value& model);

/// Arguments of compile as given -> compile_config.
Value keras3_compile_config(const Value& compile);

}  // namespace crescent::keras

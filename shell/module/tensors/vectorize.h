// cr.ops.vectorize: makes a function of elements, or of parts of tensors, apply to whole tensors.
#pragma once
#include "values/callable.h"

namespace crescent::lua {

CallablePtr vectorize_function();

}  // namespace crescent::lua

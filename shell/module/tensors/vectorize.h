// cr.ops.vectorize: applies functions of elements or of parts of tensors to whole tensors.
#pragma once
#include "values/callable.h"

namespace crescent::lua {

CallablePtr vectorize_function();

}  // namespace crescent::lua

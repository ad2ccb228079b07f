// cr.ops.vectorize: functions of single elements, or of parts, applied to whole tensors.
#pragma once
#include "values/callable.h"

namespace crescent::lua {

CallablePtr vectorize_function();

}  // namespace crescent::lua

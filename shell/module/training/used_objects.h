// What waits for the end of a batch, because the step that computes may use it.
#pragma once
#include "crescent/tensor/variable.h"

namespace crescent::lua {

// For the thread of the script, which holds the lock while a step computes:
/// Whether the step may use the variable or the object.
bool uses_variable(const Variable& variable);
bool uses_object(Object& object);

}  // namespace crescent::lua

// The variables and objects that a step in the background may use while it computes, so that Lua
// code must wait for the end of the batch before it uses them.
#pragma once
#include "crescent/base/value.h"
#include "crescent/tensor/variable.h"

namespace crescent::lua {

// The functions below may only be called by the thread of the script while it holds the lock and a
// step computes.
/// Whether the step may use the variable or the object.
bool uses_variable(const Variable& variable);
bool uses_object(Object& object);

}  // namespace crescent::lua

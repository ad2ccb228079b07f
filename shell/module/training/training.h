// Optimizers, losses, metrics, callbacks and the functions of one tensor in Lua.
#pragma once
#include "classes/object_types.h"
#include "crescent/layer/optimizer.h"

namespace crescent::lua {

void add_training_types(ObjectTypes& types, const HandleType& object);
/// Sets the learning rate of an optimizer to a number or a schedule.
void set_learning_rate(Optimizer& optimizer, Any rate);

}  // namespace crescent::lua

// The methods compile, fit, evaluate, predict and related methods of models in Lua.
#pragma once
#include "classes/object_types.h"
#include "crescent/model/training_run.h"

namespace crescent::lua {

void add_training(HandleType& model);
/// The training run that the arguments of fit on the stack describe. With `is_quiet` it shows no
/// progress unless the arguments request it.
TrainingRunPtr training_run_of(lua_State* L, Model& model, bool is_quiet = false);

/// Sets the learning rate of an optimizer to a number or a schedule.
void set_learning_rate(Optimizer& optimizer, Any rate);

/// The text of a log value as objects print it: ", loss 0.25".
std::string log_text(const std::string& name, double value);

}  // namespace crescent::lua

// The methods compile, fit, evaluate, predict and related ones of models in Lua.
#pragma once
#include "classes/object_types.h"
#include "crescent/model/training_run.h"

namespace crescent::lua {

void add_training(Type& model);
/// The run that the arguments of fit on the stack describe. With `quiet` it shows no progress
/// unless the arguments ask for that.
TrainingRunPtr training_run_of(lua_State* L, Model& model, bool quiet = false);

/// The text ", loss 0.25" of a log, as objects print it.
std::string log_text(const std::string& name, double value);

}  // namespace crescent::lua

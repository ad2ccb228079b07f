// The methods compile, fit, evaluate, predict and related ones of models in Lua.
#pragma once
#include "classes/object_types.h"
#include "crescent/model/training_run.h"

namespace crescent::lua {

void add_training(Type& model);
/// The run that the arguments of fit on the stack describe; a quiet one shows no progress unless
/// they say so.
TrainingRunPtr training_run_of(lua_State* L, Model& model, bool quiet = false);

/// ", loss 0.25", as objects tell of what they have logged.
std::string log_text(const std::string& name, double value);

}  // namespace crescent::lua

// Studies, trials and hyperparameters in Lua.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

void add_study_types(ObjectTypes& types, const HandleType& object);
/// cr.tuners.Study and cr.tuners.HyperParameters; the rest of cr.tuners is written in Lua.
const std::vector<CallablePtr>& study_functions();

}  // namespace crescent::lua

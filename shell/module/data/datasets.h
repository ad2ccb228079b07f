// The types and functions of datasets in Lua.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

void add_dataset_type(ObjectTypes& types, const HandleType& object);
std::vector<CallablePtr> dataset_functions();

}  // namespace crescent::lua

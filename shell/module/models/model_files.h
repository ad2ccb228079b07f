// Models and their weights in files, from Lua.
#pragma once
#include "classes/object_types.h"
#include "crescent/base/value.h"

namespace crescent::lua {

/// model:save, export, save_weights, load_weights.
void add_files(Type& model);
/// cr.models.load_model, save_model.
void add_file_functions(std::vector<CallablePtr>& functions);

/// The table custom_objects: functions are known by their names from here on; classes by the names
/// they were made with.
Value custom_objects(Value given);

}  // namespace crescent::lua

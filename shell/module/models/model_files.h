// Functions of Lua for files of models and weights.
#pragma once
#include "classes/object_types.h"
#include "crescent/base/value.h"

namespace crescent::lua {

/// Adds model:save, export, save_weights and load_weights.
void add_files(HandleType& model);
/// Adds cr.models.load_model and save_model.
void add_file_functions(std::vector<CallablePtr>& functions);

/// Registers the functions in the table custom_objects under the names that they have there.
/// Returns a dictionary of the classes in the table and of the classes that custom_classes()
/// returns.
Value custom_objects(Value objects);

}  // namespace crescent::lua

// Data of models as Lua gives it: tensors, tables of tensors by position or by name, functions that produce batches.
#pragma once
#include "crescent/model.h"
#include "state.h"

namespace crescent::lua {

/// One tensor, a table of tensors, a table by the names of inputs (or outputs), or numbers; nil is nothing.
Tensors to_data(lua_State* L, int index, const std::vector<std::string>& names);
std::vector<std::string> input_names(const Model& model);
std::vector<std::string> output_names(const Model& model);
/// A function that returns x, y, sample_weight of the next batch, or nil at the end of the epoch.
DatasetPtr function_dataset(lua_State* L, int index, const Model& model, int64_t batches);

}  // namespace crescent::lua

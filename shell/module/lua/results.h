// Results of evaluate, train_on_batch and test_on_batch: lists of the loss and the metrics, whose
// numbers have names, too: r[1] is r.loss. If such a list is used as a number, the error message
// says how its numbers are read.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

namespace crescent::lua {

/// Marks the list on top of the stack as the results of the method `method`; its items have these
/// names.
void mark_results(lua_State* L, const std::string& method, const std::vector<std::string>& names);
bool is_results(lua_State* L, int index);

}  // namespace crescent::lua

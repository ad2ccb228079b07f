// Reports: lines to print, and tables that print as a prepared text.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

#include "crescent/base/value.h"

namespace crescent::lua {

/// Prints the lines with the function print_fn if it is given, else with print.
void print_lines(lua_State* L, const std::vector<std::string>& lines, const Value& print_fn);
/// Pushes a table with these fields; `print` and the prompt show it as `text`.
void push_report(lua_State* L, const Value& fields, const std::string& text);

}  // namespace crescent::lua

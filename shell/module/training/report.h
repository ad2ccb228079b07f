// Reports: printed lines, and tables that are printed as a text.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

#include "crescent/base/value.h"

namespace crescent::lua {

/// Prints lines by the function print_fn, if given, or by print.
void print_lines(lua_State* L, const std::vector<std::string>& lines, const Value& print_fn);
/// Pushes a table with these fields; print and the prompt show it as this text.
void push_report(lua_State* L, const Value& fields, const std::string& text);

}  // namespace crescent::lua

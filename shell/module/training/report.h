// Reports: lines that are printed, and tables that are shown as a text of their own.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

#include "crescent/base/value.h"

namespace crescent::lua {

/// Prints lines by print_fn or print.
void print_lines(lua_State* L, const std::vector<std::string>& lines, const Value& print_fn);
/// Pushes a table of these fields, which print and the prompt show as the text.
void push_report(lua_State* L, const Value& fields, const std::string& text);

}  // namespace crescent::lua

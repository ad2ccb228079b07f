// Reports: tables that are shown as a text of their own.
#pragma once
#include <lua.hpp>
#include <string>

#include "crescent/base/value.h"

namespace crescent::lua {

/// Pushes a table of these fields, which print and the prompt show as the text.
void push_report(lua_State* L, const Value& fields, const std::string& text);

}  // namespace crescent::lua

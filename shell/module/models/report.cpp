#include "models/report.h"

#include "values/push.h"

namespace crescent::lua {
namespace {

int text_of_report(lua_State* L) { return lua_pushvalue(L, lua_upvalueindex(1)), 1; }

}  // namespace

void push_report(lua_State* L, const Value& fields, const std::string& text) {
  push(L, fields);
  lua_createtable(L, 0, 1);
  push(L, text);
  lua_pushcclosure(L, text_of_report, 1);
  lua_setfield(L, -2, "__tostring");
  lua_setmetatable(L, -2);
}

}  // namespace crescent::lua

#include "training/report.h"

#include "values/convert.h"
#include "values/push.h"

namespace crescent::lua {
namespace {

int text_of_report(lua_State* L) { return lua_pushvalue(L, lua_upvalueindex(1)), 1; }

}  // namespace

void print_lines(lua_State* L, const std::vector<std::string>& lines, const Value& print_fn) {
  auto function = print_fn.object_as<LuaFunction>();
  for (const std::string& line : lines) {
    function ? function->function.push(L) : push_global(L, "print");
    push(L, line);
    protected_call(L, 1, 0);
  }
}

void push_report(lua_State* L, const Value& fields, const std::string& text) {
  push(L, fields);
  lua_createtable(L, 0, 1);
  push(L, text);
  lua_pushcclosure(L, text_of_report, 1);
  lua_setfield(L, -2, "__tostring");
  lua_setmetatable(L, -2);
}

}  // namespace crescent::lua

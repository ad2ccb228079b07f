#include "variables.h"

#include "crescent/base/error.h"
#include "local_statements.h"
#include "lua_state.h"

namespace crescent::program {
namespace {

int load_text(lua_State* L, const std::string& text, const std::string& chunk_name) {
  return luaL_loadbufferx(L, text.data(), text.size(), chunk_name.c_str(), "t");
}

/// A variable name that does not occur in the text.
std::string unused_name(std::string_view text) {
  std::string name = "keep";
  while (text.find(name) != text.npos) name += "_";
  return name;
}

/// A call of the function keep() for a variable, as code: keep("x","",function()return x end). The
/// function in the call has the variable as an upvalue.
std::string keep_call(const std::string& keep_function_name,
                      const LocalStatement::Variable& variable) {
  return concat(keep_function_name, "(\"", variable.name, "\",\"", variable.attribute,
                "\",function()return ", variable.name, " end);");
}

/// The text with a call of the function keep() inserted after each statement that declares local
/// variables. A variable with <close> is declared <const> instead, since it must be closed only at
/// the end of the session.
std::string with_keep_calls(std::string text, const std::vector<LocalStatement>& statements,
                            const std::string& keep_function_name) {
  for (auto statement = statements.rbegin(); statement != statements.rend(); ++statement) {
    std::string calls = ";";
    for (const LocalStatement::Variable& variable : statement->variables)
      calls += keep_call(keep_function_name, variable);
    text.insert(statement->end, calls);
    for (const LocalStatement::Variable& variable : statement->variables)
      if (variable.attribute == "close") text.replace(variable.attribute_begin, 5, "const");
  }
  return text;
}

/// Calls the function on top of the stack. Replaces it by a function that returns the same result
/// from an upvalue.
void box_value(lua_State* L) {
  lua_call(L, 0, 1);
  load_text(L, "local value return function() return value end", "=variable");
  lua_call(L, 0, 1);
  lua_insert(L, -2);
  lua_setupvalue(L, -2, 1);
}

}  // namespace

Variables::Variables(lua_State* L) : L_(L) {
  lua_newtable(L);
  table_reference_ = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_newtable(L);
  closing_list_reference_ = luaL_ref(L, LUA_REGISTRYINDEX);
}

/// The Lua function that the inserted code calls after each local statement, to keep a variable for
/// later entries. Its arguments are the name of the variable, its attribute, and a function that
/// returns its value.
int Variables::keep(lua_State* L) {
  auto& variables = *static_cast<Variables*>(lua_touserdata(L, lua_upvalueindex(1)));
  const std::string name = lua_tostring(L, 1), attribute = lua_tostring(L, 2);
  if (attribute == "close") variables.check_closable(name);
  variables.keep_variable(name, attribute);
  return 0;
}

/// Stores the value of a variable declared with <close>, which is closed at the end of the session;
/// fails if the value cannot be closed.
void Variables::check_closable(const std::string& name) {
  lua_pushvalue(L_, 3);
  lua_call(L_, 0, 1);
  if (!lua_toboolean(L_, -1)) return lua_pop(L_, 1);
  if (luaL_getmetafield(L_, -1, "__close") == LUA_TNIL)
    luaL_error(L_, "variable '%s' got a non-closable value", name.c_str());
  lua_pop(L_, 1);
  lua_rawgeti(L_, LUA_REGISTRYINDEX, closing_list_reference_);
  lua_insert(L_, -2);
  lua_rawseti(L_, -2, static_cast<lua_Integer>(lua_rawlen(L_, -2)) + 1);
  lua_pop(L_, 1);
}

/// Keeps a variable for later entries. If the variable is a constant that the compiler has inlined,
/// the function at index 3 has no upvalue; then it is replaced by a function that has one.
void Variables::keep_variable(const std::string& name, const std::string& attribute) {
  const char* upvalue = lua_getupvalue(L_, 3, 1);
  if (upvalue) lua_pop(L_, 1);
  push_table();
  lua_pushvalue(L_, 3);
  if (!upvalue) box_value(L_);
  lua_setfield(L_, -2, name.c_str());
  lua_pop(L_, 1);
  attributes_[name] = attribute;
}

/// The code that is put before the text, on its first line: declarations of the session's variables
/// that the text uses, and of the variable that holds the function keep().
std::string Variables::prologue(std::string_view text, const std::string& keep_function_name,
                                bool declares_locals) const {
  std::string names = declares_locals ? keep_function_name : "";
  if (!attributes_.empty())
    for (const std::string& name : names_in(text))
      if (const auto it = attributes_.find(name); it != attributes_.end())
        names += concat(names.empty() ? "" : ",", name, it->second.empty() ? "" : "<const>");
  return names.empty() ? "" : concat("local ", names, " return function(...) ");
}

/// Makes the upvalues of the function on top of the stack refer to the variables of the session.
void Variables::join_upvalues(const std::string& keep_function_name) {
  push_table();
  for (int i = 1; const char* name = lua_getupvalue(L_, -2, i); ++i) {
    lua_pop(L_, 1);
    if (name == keep_function_name) {
      lua_pushlightuserdata(L_, this);
      lua_pushcclosure(L_, keep, 1);
      lua_setupvalue(L_, -3, i);
    } else if (attributes_.count(name)) {
      lua_getfield(L_, -1, name);
      lua_upvaluejoin(L_, -3, i, -1, 1);
      lua_pop(L_, 1);
    }
  }
  lua_pop(L_, 1);
}

int Variables::load(const std::string& text, const std::string& chunk_name) {
  const std::vector<LocalStatement> statements = local_statements(text);
  const std::string keep_function_name = unused_name(text);
  const std::string prefix = prologue(text, keep_function_name, !statements.empty());
  const std::string code =
      prefix.empty() ? text
                     : prefix + with_keep_calls(text, statements, keep_function_name) + "\nend";
  const int status = load_text(L_, code, chunk_name);
  if (status == LUA_OK && !prefix.empty()) lua_call(L_, 0, 1);
  if (status == LUA_OK) join_upvalues(keep_function_name);
  return status;
}

void Variables::close() {
  lua_rawgeti(L_, LUA_REGISTRYINDEX, closing_list_reference_);
  for (auto i = static_cast<lua_Integer>(lua_rawlen(L_, -1)); i > 0; --i) {
    lua_rawgeti(L_, -1, i);
    luaL_getmetafield(L_, -1, "__close");
    lua_insert(L_, -2);
    lua_pushnil(L_);
    if (call(L_, 2, 0) != LUA_OK) report(L_);
  }
  lua_pop(L_, 1);
}

}  // namespace crescent::program

// The local variables of a session: variables that an entry declares outside of blocks live until
// the session ends.
#pragma once
#include <lua.hpp>
#include <map>
#include <string>
#include <string_view>

namespace crescent::program {

/// Each entry is compiled as a function whose upvalues are variables of earlier entries, so that
/// closures of all entries share them. An entry can use up to 200 variables, Lua's limit for a
/// function; a session can have any number.
class Variables {
 public:
  explicit Variables(lua_State* L);
  Variables(const Variables&) = delete;

  /// Loads a text that compiles by itself. Running it keeps each variable as soon as its statement
  /// was executed, even if a later statement fails. Pushes the function, or an error message.
  int load(const std::string& text, const std::string& chunk_name);
  /// Pushes the table {name = function that returns the value of the variable}.
  void push_table() const { lua_rawgeti(L_, LUA_REGISTRYINDEX, table_reference_); }
  /// Closes the variables that were declared with <close>, the last one first.
  void close();

 private:
  static int keep(lua_State* L);
  void keep_variable(const std::string& name, const std::string& attribute);
  void check_closable(const std::string& name);
  std::string prologue(std::string_view text, const std::string& keep_function_name,
                       bool declares_locals) const;
  void join_upvalues(const std::string& keep_function_name);

  lua_State* L_;
  // references in the Lua registry: to the table of variables, and to the list of the values to
  // close
  int table_reference_, closing_list_reference_;
  std::map<std::string, std::string, std::less<>> attributes_;
};

}  // namespace crescent::program

// The local variables of a session: those that an entry declares outside of blocks live until its
// end.
#pragma once
#include <lua.hpp>
#include <map>
#include <string>
#include <string_view>

namespace crescent::program {

/// Entries are compiled as functions whose upvalues are the variables of earlier entries, so
/// closures of all entries share them. An entry can use up to 200 of them, Lua's limit for a
/// function; a session can have any number.
class Variables {
 public:
  explicit Variables(lua_State* L);
  Variables(const Variables&) = delete;

  /// Loads a text that compiles by itself. A variable is kept as soon as its statement was
  /// executed, even if a later one fails. Pushes the function, or an error message.
  int load(const std::string& text, const std::string& chunk);
  /// Pushes the table of functions that return the values, by name.
  void push_table() const { lua_rawgeti(L_, LUA_REGISTRYINDEX, table_); }
  /// Closes the variables that were declared with <close>, the last one first.
  void close();

 private:
  static int keep(lua_State* L);
  void keep_variable(const std::string& name, const std::string& attribute);
  void check_closable(const std::string& name);
  std::string prologue(std::string_view text, const std::string& keeper, bool declares) const;
  void join(const std::string& keeper);

  lua_State* L_;
  int table_, closing_;  // references in the registry
  std::map<std::string, std::string, std::less<>> attributes_;
};

}  // namespace crescent::program

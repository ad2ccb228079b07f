// The local variables of a session: what an entry declares outside of blocks lasts to the end.
#pragma once
#include <lua.hpp>
#include <map>
#include <string>
#include <string_view>

namespace crescent::program {

/// Entries are compiled as functions whose upvalues are the variables of earlier ones, so closures
/// of all entries share them. An entry can use 200 of them, as many as a function of Lua can have;
/// there is no limit to how many a session has.
class Variables {
 public:
  explicit Variables(lua_State* L);
  Variables(const Variables&) = delete;

  /// Loads a text that compiles by itself. What it declares is kept from the statement on that
  /// declares it, whatever happens behind it. Pushes the function, or a message.
  int load(const std::string& text, const std::string& chunk);
  /// Pushes the table of functions, by names, that give the values.
  void push_table() const { lua_rawgeti(L_, LUA_REGISTRYINDEX, table_); }
  /// Ends variables that were declared with <close>, the last one first.
  void close();

 private:
  static int keep(lua_State* L);
  void keep_variable(const std::string& name, const std::string& attribute);
  void check_closable(const std::string& name);
  std::string prologue(std::string_view text, const std::string& keeper, bool declares) const;
  void join(const std::string& keeper);

  lua_State* L_;
  int table_, closing_;  // references
  std::map<std::string, std::string, std::less<>> attributes_;
};

}  // namespace crescent::program

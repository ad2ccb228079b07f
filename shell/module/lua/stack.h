// Helpers for the Lua stack: space for values, access to fields without metamethods, and restoring
// the height.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Makes space for n more values, or fails.
void reserve(lua_State* L, int n);

/// Pushes table[name] without calling metamethods, which might raise errors.
void push_field(lua_State* L, int table_index, const char* name);
/// Pushes the global variable `name` without calling metamethods.
void push_global(lua_State* L, const char* name);
/// Pushes the weak table stored in the registry under this key, which is made on first use; `mode`
/// is the value of its __mode.
void push_weak_table(lua_State* L, const void* key, const char* mode);

/// The destructor removes the values that were pushed onto the stack since the construction.
class StackRestorer {
 public:
  explicit StackRestorer(lua_State* L) : L_(L), height_(lua_gettop(L)) {}
  ~StackRestorer() { lua_settop(L_, height_); }
  StackRestorer(const StackRestorer&) = delete;

 private:
  lua_State* L_;
  int height_;
};

}  // namespace crescent::lua

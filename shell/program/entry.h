// Entries of the prompt as Lua understands them.
#pragma once
#include <lua.hpp>
#include <string>

#include "lua_tokens.h"

namespace crescent::program {

/// Loads an entry as an expression, else as statements, else as statements before an expression:
/// `x = 5; x`. The function, or the error of the statements, is left on the stack; `shown` becomes
/// the text whose values are to be seen.
int load_entry(lua_State* L, const std::string& text, std::string& shown);

/// Says whether entries are whole. One that can never become right counts as whole, so that its
/// error is seen at once.
class EntryChecker {
 public:
  explicit EntryChecker(lua_State* L) : L_(L) {}
  bool is_complete(const std::string& text);

 private:
  lua_State* L_;
  OpenLua open_;
};

}  // namespace crescent::program

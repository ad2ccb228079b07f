// Entries of the prompt as Lua understands them.
#pragma once
#include <lua.hpp>
#include <string>

#include "program/lua/lua_tokens.h"

namespace crescent::program {

struct Entry {
  std::string code;        ///< what is compiled
  std::string shown;       ///< the part whose values are to be seen
  bool is_silent = false;  ///< it ends in a semicolon: nothing is to be seen
};

/// Reads an entry as an expression, else as statements before an expression (`x = 5; x`), else as
/// statements; with `shows_calls`, a call is such an expression too (`x = 5; f(x)`). False: the
/// error of the statements is left on the stack, as one of that chunk.
bool read_entry(lua_State* L, const std::string& text, const char* chunk, bool shows_calls,
                Entry& entry);

/// Of `:time x`: where `x` begins; 0 of an entry that is no command of the prompt.
size_t command_end(std::string_view text);

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

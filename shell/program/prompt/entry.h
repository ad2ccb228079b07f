// Converts entries of the prompt to Lua code.
#pragma once
#include <lua.hpp>
#include <string>

#include "program/lua/lua_tokens.h"

namespace crescent::program {

struct Entry {
  std::string code;              ///< the code to compile
  std::string shown_expression;  ///< the part of the entry whose values are shown
  bool is_silent = false;  ///< whether the entry ends in a semicolon, so that no values are shown
};

/// Reads an entry as an expression or, if it is not one, as statements followed by an expression
/// (`x = 5; x`), else as statements only. With `shows_calls`, a call may be the expression after
/// statements (`x = 5; f(x)`). If the entry is none of these, returns false and leaves an error
/// message on the stack: the message of compiling the entry as statements, in a chunk with the name
/// `chunk_name`.
bool read_entry(lua_State* L, const std::string& text, const char* chunk_name, bool shows_calls,
                Entry& entry);

/// The offset of `x` in an entry `:time x`; 0 if the entry begins with no such command of the
/// prompt.
size_t command_end(std::string_view text);

/// Tells whether entries are complete. An entry that no further text can make valid counts as
/// complete, so that its error is shown at once.
class EntryChecker {
 public:
  explicit EntryChecker(lua_State* L) : L_(L) {}
  bool is_complete(const std::string& text);

 private:
  lua_State* L_;
  IncompleteTextChecker incomplete_text_checker_;
};

}  // namespace crescent::program

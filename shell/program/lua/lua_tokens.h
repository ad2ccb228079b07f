// The tokens of a complete or incomplete Lua text: for colours, and to find blocks, brackets and
// strings that are not closed.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "editor/screen/style.h"

namespace crescent::program {

struct LuaToken {
  enum class Kind { name, keyword, number, string, comment, symbol, blank };
  Kind kind;
  size_t begin, end;
  bool is_closed = true;  ///< false for a string or comment whose end is missing
};

/// The token that begins at `offset`.
LuaToken lua_token_at(std::string_view text, size_t offset);

/// The change of the nesting depth of blocks and brackets that the token causes.
int lua_depth_change(std::string_view text, const LuaToken& token);

/// A style for each byte of the text; unmatched brackets and the pair of brackets at the cursor
/// have styles of their own.
std::vector<editor::Style> lua_styles(std::string_view text, size_t cursor);

/// The offset of the contents of the unclosed string at the end of the text; npos if no string is
/// open.
size_t open_lua_string(std::string_view text);

/// The offsets at which statements outside of all blocks begin, the last one first. If the text
/// compiles, these are exact: statements after a semicolon, and those that begin with a name after
/// a token that can end a statement. Otherwise they are guesses: after a semicolon, and at the
/// starts of lines.
std::vector<size_t> lua_statements(std::string_view text, bool is_valid);

/// Whether the text gives a function a name: `function name`, or `= function`.
bool lua_names_function(std::string_view text);

/// Whether the text calls a variable of this name: the name, which is not that of a field, stands
/// before a bracket or a string.
bool lua_calls(std::string_view text, std::string_view name);

/// The offset behind the last token of a text that is neither a blank nor a comment.
size_t lua_code_end(std::string_view text);

/// Whether the last token of a text is this symbol; blanks and comments are ignored.
bool lua_ends_with(std::string_view text, char symbol);

/// Follows a growing text and tells whether it is incomplete: a block, a bracket, a long string or
/// comment, or an operation has no end yet. Text that was processed is not read again.
class IncompleteTextChecker {
 public:
  bool is_open(std::string_view text);

 private:
  LuaToken process(std::string_view text);

  std::string processed_text_;
  size_t next_offset_ = 0;  // tokens that end before this offset have been processed
  int depth_ = 0;
  LuaToken last_token_{LuaToken::Kind::blank, 0, 0};
};

}  // namespace crescent::program

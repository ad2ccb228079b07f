// A text in Lua as its words, also one that is not complete: for colours, and for what is open.
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
  bool closed = true;  ///< false for strings and comments that the text ends in
};

/// The token that begins at `at`.
LuaToken lua_token_at(std::string_view text, size_t at);

/// By how many the token makes the blocks and brackets that are open more or fewer.
int lua_depth_change(std::string_view text, const LuaToken& token);

/// A style for each byte; brackets without a partner, and the pair at the cursor, have their own.
std::vector<editor::Style> lua_styles(std::string_view text, size_t cursor);

/// Where the contents of the string begin that the text ends in; npos when it ends in none.
size_t open_lua_string(std::string_view text);

/// Where statements of the text begin that stand in no block, the last one first. Of one that
/// compiles they are known: behind a semicolon, and where a name follows what can end a statement.
/// Of another one they are guessed: behind a semicolon, and in lines of their own.
std::vector<size_t> lua_statements(std::string_view text, bool compiles);

/// The names in `name == 3`, `name ~= 3` and the other way round, which are no fields of anything.
std::vector<std::string> lua_names_compared_with_numbers(std::string_view text);

/// Whether the last thing in a text that is neither blank nor comment is this symbol.
bool lua_ends_with(std::string_view text, char symbol);

/// Follows a text that grows, and says whether something in it is open: a block, a bracket, a long
/// string or comment, an operation. What it has seen it does not look at again.
class OpenLua {
 public:
  bool is_open(std::string_view text);

 private:
  LuaToken take(std::string_view text);

  std::string seen_;
  size_t at_ = 0;  // the tokens before it are counted
  int depth_ = 0;
  LuaToken last_{LuaToken::Kind::blank, 0, 0};
};

}  // namespace crescent::program

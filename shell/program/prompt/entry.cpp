#include "entry.h"

#include <algorithm>

namespace crescent::program {
namespace {

// Entries of at most this size in bytes are compiled again as a whole after each line.
constexpr size_t kMaxQuickBytes = 4096;
// Of the statements of an entry, at most this number, beginning with the last one, are tried as the
// start of the expression at its end.
constexpr size_t kMaxTriedStatements = 8;

/// Whether the text compiles; if not, an error message is left on the stack.
bool compiles(lua_State* L, const std::string& text, const char* chunk_name) {
  if (luaL_loadbufferx(L, text.data(), text.size(), chunk_name, "t") != LUA_OK) return false;
  lua_pop(L, 1);
  return true;
}

/// Whether the text compiles; leaves no error message on the stack.
bool compiles_silently(lua_State* L, const std::string& text) {
  if (compiles(L, text, "=entry")) return true;
  lua_pop(L, 1);
  return false;
}

/// Code that returns the values of the expressions. No call in it is a tail call, so that
/// tracebacks include the entry; after a semicolon, which suppresses the values, tail calls are
/// allowed. The closing bracket stands in the last line of the expressions, because Lua evaluates
/// the last field or element in the line of the token that follows.
std::string code_that_returns(const std::string& expressions) {
  if (lua_ends_with(expressions, ';')) return "return " + expressions;
  return "return (function(...) return ... end)(" +
         expressions.substr(0, lua_code_end(expressions)) + ")";
}

/// Reads the entry as statements followed by an expression; returns false if that is impossible.
/// `is_valid`: the whole text also compiles as statements, so the expression must be a call.
bool read_with_expression(lua_State* L, const std::string& text, bool is_valid, Entry& entry) {
  const std::vector<size_t> starts = lua_statements(text, is_valid);
  for (size_t i = 0; i < std::min(starts.size(), kMaxTriedStatements); ++i) {
    const std::string statements = text.substr(0, starts[i]), expression = text.substr(starts[i]);
    if (!compiles_silently(L, "return " + expression) ||
        !compiles_silently(L, statements + "return " + expression))
      continue;
    entry.shown_expression = expression;
    entry.code = statements + code_that_returns(expression);
    return true;
  }
  return false;
}

/// Whether the string at the end of the text continues in the next line because the newline is
/// escaped.
bool escapes_line_end(const std::string& text) {
  size_t end = text.find_last_not_of(" \t\r\n");
  if (end == text.npos) return false;
  if (text[end] == 'z' && end > 0 && text[end - 1] == '\\') return true;
  size_t count = 0;
  for (end = text.size(); end > 0 && text[end - 1] == '\\'; --end) ++count;
  return count % 2 == 1;
}

/// Whether the text ends in a single colon, as the first line of a block of Python does: `for x in
/// y:`. A label of Lua ends in two colons.
bool ends_in_colon(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  return lua_ends_with(text, ':') && !text.ends_with("::");
}

/// Whether the error message on the stack means that the text is only incomplete, not wrong.
bool lacks_end(lua_State* L, const std::string& text) {
  if (ends_in_colon(text)) return false;
  const std::string_view message = lua_tostring(L, -1);
  if (!message.ends_with("<eof>")) return false;
  return message.find("unfinished string") == message.npos || escapes_line_end(text);
}

/// Whether the text is an incomplete expression, such as a table or a list of values.
bool begins_expression(lua_State* L, const std::string& text) {
  if (compiles(L, "return " + text, "=entry")) return false;
  const bool is_incomplete = lacks_end(L, text);
  lua_pop(L, 1);
  return is_incomplete;
}

}  // namespace

bool read_entry(lua_State* L, const std::string& text, const char* chunk_name, bool shows_calls,
                Entry& entry) {
  entry.shown_expression = text.starts_with('=') ? text.substr(1) : text;
  entry.is_silent = lua_ends_with(text, ';');
  if (compiles_silently(L, "return " + entry.shown_expression))
    return entry.code = code_that_returns(entry.shown_expression), true;
  entry.code = text;
  const bool is_valid = compiles(L, text, chunk_name);
  if (is_valid && !shows_calls) return true;
  const bool has_expression = read_with_expression(L, text, is_valid, entry);
  if (has_expression && !is_valid) lua_pop(L, 1);
  return is_valid || has_expression;
}

size_t command_end(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == text.npos || text[begin] != ':' || text.substr(begin).starts_with("::")) return 0;
  const size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
  return std::min(text.find_first_not_of(" \t\n", end), text.size());
}

bool EntryChecker::is_complete(const std::string& text) {
  if (text.size() > kMaxQuickBytes && incomplete_text_checker_.is_open(text)) return false;
  const std::string code = text.substr(command_end(text));
  Entry entry;
  if (read_entry(L_, code, "=entry", false, entry)) return true;
  const bool is_incomplete = lacks_end(L_, code) || begins_expression(L_, code);
  lua_pop(L_, 1);
  return !is_incomplete;
}

}  // namespace crescent::program

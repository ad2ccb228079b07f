#include "entry.h"

#include <algorithm>

namespace crescent::program {
namespace {

constexpr const char* kChunk = "=prompt";
constexpr size_t kQuick = 4096;   // bytes that the compiler reads again after each line
constexpr size_t kMostTries = 8;  // lines at the end of a block that may begin an expression

int load(lua_State* L, const std::string& text) {
  return luaL_loadbufferx(L, text.data(), text.size(), kChunk, "t");
}

/// Loads the entry as statements before an expression; pushes nothing when it is none.
bool load_with_expression(lua_State* L, const std::string& text, std::string& shown) {
  const std::vector<size_t> starts = lua_statements(text);
  for (size_t i = 0; i < std::min(starts.size(), kMostTries); ++i) {
    shown = text.substr(starts[i]);
    if (load(L, text.substr(0, starts[i]) + "return " + shown) == LUA_OK) return true;
    lua_pop(L, 1);
  }
  return false;
}

/// A string that goes on in the next line: its end is escaped.
bool escapes_line_end(const std::string& text) {
  size_t end = text.find_last_not_of(" \t\r\n");
  if (end == text.npos) return false;
  if (text[end] == 'z' && end > 0 && text[end - 1] == '\\') return true;
  size_t count = 0;
  for (end = text.size(); end > 0 && text[end - 1] == '\\'; --end) ++count;
  return count % 2 == 1;
}

/// The message of a text that only lacks its end.
bool lacks_end(lua_State* L, const std::string& text) {
  const std::string_view message = lua_tostring(L, -1);
  if (!message.ends_with("<eof>")) return false;
  return message.find("unfinished string") == message.npos || escapes_line_end(text);
}

}  // namespace

int load_entry(lua_State* L, const std::string& text, std::string& shown) {
  shown = text.starts_with('=') ? text.substr(1) : text;
  if (load(L, "return " + shown) == LUA_OK) return LUA_OK;
  lua_pop(L, 1);
  const int status = load(L, text);
  if (status != LUA_ERRSYNTAX) return status;
  if (!load_with_expression(L, text, shown)) return status;
  lua_remove(L, -2);
  return LUA_OK;
}

bool EntryChecker::is_complete(const std::string& text) {
  if (text.size() > kQuick && open_.is_open(text)) return false;
  std::string shown;
  const bool incomplete = load_entry(L_, text, shown) == LUA_ERRSYNTAX && lacks_end(L_, text);
  lua_pop(L_, 1);
  return !incomplete;
}

}  // namespace crescent::program

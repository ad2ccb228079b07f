#include "assistance.h"

#include <algorithm>
#include <filesystem>

#include "crescent/base/error.h"
#include "program/lua/lua_tokens.h"

namespace crescent::program {
namespace {

namespace fs = std::filesystem;
using editor::Candidate;
using editor::Completions;

// The call that encloses the cursor is searched for in this number of bytes before the cursor.
constexpr size_t kMaxSearchedBytes = 2000;
// The largest number of Lua instructions that the user's code may execute for a hint or completion.
constexpr int kMaxInstructions = 10'000'000;

void fail_too_slow(lua_State* L, lua_Debug*) { luaL_error(L, "this takes too long"); }

/// Calls a function of the module with string arguments. Returns true with the results on the
/// stack, or false after an error, which is not shown because it would only disturb typing.
bool call_module_function(lua_State* L, const char* function,
                          std::initializer_list<std::string_view> texts, int results) {
  push_module_function(L, function);
  for (const std::string_view text : texts) lua_pushlstring(L, text.data(), text.size());
  lua_sethook(L, fail_too_slow, LUA_MASKCOUNT, kMaxInstructions);
  const int status = lua_pcall(L, static_cast<int>(texts.size()), results, 0);
  lua_sethook(L, nullptr, 0, 0);
  return status == LUA_OK;
}

/// The last kMaxSearchedBytes bytes in front of the cursor, or less: if a line begins in them, the
/// text from the start of that line.
std::string_view tail(std::string_view text, size_t cursor) {
  if (cursor <= kMaxSearchedBytes) return text.substr(0, cursor);
  const size_t line = text.find('\n', cursor - kMaxSearchedBytes);
  const size_t start = line < cursor ? line + 1 : cursor - kMaxSearchedBytes;
  return text.substr(start, cursor - start);
}

std::string text_at(lua_State* L, int list, lua_Integer i) {
  lua_rawgeti(L, list, i);
  size_t length = 0;
  const char* text = lua_tolstring(L, -1, &length);
  std::string found = text ? std::string(text, length) : "";
  lua_pop(L, 1);
  return found;
}

std::vector<Candidate> candidates_of(lua_State* L, int names, int helps) {
  std::vector<Candidate> found;
  if (!lua_istable(L, names) || !lua_istable(L, helps)) return found;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, names));
  for (lua_Integer i = 1; i <= count; ++i)
    found.push_back({text_at(L, names, i), text_at(L, helps, i)});
  return found;
}

Completions name_completions(lua_State* L, std::string_view before, size_t cursor) {
  Completions found;
  if (call_module_function(L, "complete", {before}, 3)) {
    const int first = lua_gettop(L) - 2;
    found.begin = cursor - static_cast<size_t>(lua_tointeger(L, first + 1));
    found.candidates = candidates_of(L, first, first + 2);
  }
  return found;
}

/// The completions of a string that is the value of an option or an argument, or a key; `before` is
/// the text up to the quotation mark.
Completions value_completions(lua_State* L, std::string_view before, std::string_view typed,
                              size_t begin) {
  Completions found;
  found.begin = begin;
  if (call_module_function(L, "complete_value", {before, typed}, 2)) {
    const int first = lua_gettop(L) - 1;
    found.candidates = candidates_of(L, first, first + 1);
  }
  return found;
}

std::string size_of(const fs::directory_entry& entry) {
  std::error_code error;
  if (entry.is_directory(error)) return "a folder";
  const auto bytes = entry.file_size(error);
  return error ? "" : concat(bytes, " bytes");
}

Completions file_completions(std::string_view typed, size_t begin) {
  const size_t slash = typed.rfind('/') + 1;
  const std::string_view folder = typed.substr(0, slash), start = typed.substr(slash);
  Completions found;
  found.begin = begin + slash;
  std::error_code error;
  const fs::path searched = folder.empty() ? fs::path(".") : fs::path(folder);
  for (fs::directory_iterator at(searched, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (!name.starts_with(start) || (start.empty() && name.starts_with('.'))) continue;
    std::error_code unknown;
    found.candidates.push_back({name + (at->is_directory(unknown) ? "/" : ""), size_of(*at)});
  }
  std::sort(found.candidates.begin(), found.candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.text < b.text; });
  return found;
}

}  // namespace

void push_module_function(lua_State* L, const char* name) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "crescent");
  lua_getfield(L, -1, name);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

std::string hint(lua_State* L, const std::string& text, size_t cursor) {
  const int height = lua_gettop(L);
  std::string found;
  if (call_module_function(L, "hint", {tail(text, cursor)}, 1) && lua_isstring(L, -1))
    found = printable(lua_tostring(L, -1));
  lua_settop(L, height);
  return found;
}

Completions completions(lua_State* L, const std::string& text, size_t cursor) {
  const int height = lua_gettop(L);
  const std::string_view before = std::string_view(text).substr(0, cursor);
  const size_t begin = open_lua_string(before);
  Completions found;
  if (begin == before.npos) {
    found = name_completions(L, tail(text, cursor), cursor);
  } else {
    const std::string_view typed = before.substr(begin);
    found = value_completions(L, tail(text, begin - 1), typed, begin);
    if (found.candidates.empty()) found = file_completions(typed, begin);
  }
  lua_settop(L, height);
  return found;
}

}  // namespace crescent::program

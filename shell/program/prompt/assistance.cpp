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
                          std::initializer_list<std::string_view> texts, int result_count) {
  push_module_function(L, function);
  for (const std::string_view text : texts) lua_pushlstring(L, text.data(), text.size());
  lua_sethook(L, fail_too_slow, LUA_MASKCOUNT, kMaxInstructions);
  const int status = lua_pcall(L, static_cast<int>(texts.size()), result_count, 0);
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

std::string text_at(lua_State* L, int list_index, lua_Integer i) {
  lua_rawgeti(L, list_index, i);
  size_t length = 0;
  const char* text = lua_tolstring(L, -1, &length);
  std::string result = text ? std::string(text, length) : "";
  lua_pop(L, 1);
  return result;
}

std::vector<Candidate> candidates_of(lua_State* L, int names_index, int helps_index) {
  std::vector<Candidate> candidates;
  if (!lua_istable(L, names_index) || !lua_istable(L, helps_index)) return candidates;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, names_index));
  for (lua_Integer i = 1; i <= count; ++i)
    candidates.push_back({text_at(L, names_index, i), text_at(L, helps_index, i)});
  return candidates;
}

Completions name_completions(lua_State* L, std::string_view text_before_cursor, size_t cursor) {
  Completions result;
  if (call_module_function(L, "complete", {text_before_cursor}, 3)) {
    const int first_index = lua_gettop(L) - 2;
    result.begin = cursor - static_cast<size_t>(lua_tointeger(L, first_index + 1));
    result.candidates = candidates_of(L, first_index, first_index + 2);
  }
  return result;
}

/// The completions of a string that is the value of an option or an argument, or a key;
/// `text_before_cursor` ends before the quotation mark.
Completions value_completions(lua_State* L, std::string_view text_before_cursor,
                              std::string_view typed_text, size_t begin) {
  Completions result;
  result.begin = begin;
  if (call_module_function(L, "complete_value", {text_before_cursor, typed_text}, 2)) {
    const int first_index = lua_gettop(L) - 1;
    result.candidates = candidates_of(L, first_index, first_index + 1);
  }
  return result;
}

std::string size_text(const fs::directory_entry& entry) {
  std::error_code error;
  if (entry.is_directory(error)) return "a folder";
  const auto bytes = entry.file_size(error);
  return error ? "" : concat(bytes, " bytes");
}

Completions file_completions(std::string_view typed_text, size_t begin) {
  const size_t name_offset = typed_text.rfind('/') + 1;
  const std::string_view folder = typed_text.substr(0, name_offset),
                         start = typed_text.substr(name_offset);
  Completions result;
  result.begin = begin + name_offset;
  std::error_code error;
  const fs::path searched_folder = folder.empty() ? fs::path(".") : fs::path(folder);
  for (fs::directory_iterator it(searched_folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename();
    if (!name.starts_with(start) || (start.empty() && name.starts_with('.'))) continue;
    std::error_code ignored_error;
    result.candidates.push_back(
        {name + (it->is_directory(ignored_error) ? "/" : ""), size_text(*it)});
  }
  std::sort(result.candidates.begin(), result.candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.text < b.text; });
  return result;
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
  std::string result;
  if (call_module_function(L, "hint", {tail(text, cursor)}, 1) && lua_isstring(L, -1))
    result = printable(lua_tostring(L, -1));
  lua_settop(L, height);
  return result;
}

Completions completions(lua_State* L, const std::string& text, size_t cursor) {
  const int height = lua_gettop(L);
  const std::string_view text_before_cursor = std::string_view(text).substr(0, cursor);
  const size_t begin = open_lua_string(text_before_cursor);
  Completions result;
  if (begin == text_before_cursor.npos) {
    result = name_completions(L, tail(text, cursor), cursor);
  } else {
    const std::string_view typed_text = text_before_cursor.substr(begin);
    result = value_completions(L, tail(text, begin - 1), typed_text, begin);
    if (result.candidates.empty()) result = file_completions(typed_text, begin);
  }
  lua_settop(L, height);
  return result;
}

}  // namespace crescent::program

#include "prompt.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "crescent/base/error.h"
#include "crescent/base/export.h"
#include "editor.h"
#include "lua_state.h"
#include "module/values/interruption.h"
#include "signals.h"

namespace crescent::program {
namespace {

constexpr const char* kChunk = "=prompt";

/// Pushes the field of the module's table; the prompt's own functions live there.
void push_module_function(lua_State* L, const char* name) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "crescent");
  lua_getfield(L, -1, name);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

/// Asks cr.complete; what goes wrong there completes nothing.
Completion complete(lua_State* L, const std::string& text) {
  Completion found;
  const int height = lua_gettop(L);
  push_module_function(L, "complete");
  lua_pushlstring(L, text.data(), text.size());
  if (lua_pcall(L, 1, 2, 0) == LUA_OK && lua_istable(L, -2)) {
    found.typed = static_cast<size_t>(lua_tointeger(L, -1));
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, -2));
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(L, -2, i);
      found.names.emplace_back(lua_tostring(L, -1));
      lua_pop(L, 1);
    }
  }
  lua_settop(L, height);
  return found;
}

/// The message of a text that only lacks its end.
bool is_incomplete(lua_State* L, int status) {
  if (status != LUA_ERRSYNTAX) return false;
  const std::string message = lua_tostring(L, -1);
  const std::string end = "<eof>";
  return message.size() >= end.size() &&
         message.compare(message.size() - end.size(), end.size(), end) == 0;
}

/// Loads `text` as an expression, else as statements; the function or the error is left on the
/// stack.
int load(lua_State* L, const std::string& text) {
  const std::string shown = "return " + (text.rfind('=', 0) == 0 ? text.substr(1) : text);
  if (luaL_loadbufferx(L, shown.data(), shown.size(), kChunk, "t") == LUA_OK) return LUA_OK;
  lua_pop(L, 1);
  return luaL_loadbufferx(L, text.data(), text.size(), kChunk, "t");
}

/// A name or a path of names: what is asked for there is worth an answer, even nil.
bool is_path(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.' || c == ' ' || c == '=';
  });
}

/// Prints results as cr.show writes them; a single nil that a call gave is not worth a line.
void print_results(lua_State* L, int first, const std::string& asked) {
  const int last = lua_gettop(L);
  if (last == first && lua_isnil(L, first) && !is_path(asked)) return;
  for (int i = first; i <= last; ++i) {
    push_module_function(L, "show");
    lua_pushvalue(L, i);
    if (call(L, 1, 1) != LUA_OK) return report(L);
    size_t length = 0;
    const char* text = lua_tolstring(L, -1, &length);
    std::printf("%s\n", text ? printable({text, length}).c_str() : "?");
    lua_pop(L, 1);
  }
  std::fflush(stdout);
}

void run(lua_State* L, const std::string& text) {
  const int first = lua_gettop(L);
  lua::begin_command();
  if (call(L, 0, LUA_MULTRET) == LUA_OK)
    print_results(L, first, text);
  else
    report(L);
}

/// Reads lines until they make sense together; false at the end of input.
bool read_and_run(lua_State* L, Editor& editor, std::string& pending) {
  std::string line;
  const Editor::Result result = editor.read(pending.empty() ? "> " : ">> ", line);
  if (result == Editor::Result::end) return false;
  if (result == Editor::Result::interrupted) return pending.clear(), true;
  editor.remember(line);
  pending += (pending.empty() ? "" : "\n") + line;
  const int status = load(L, pending);
  if (is_incomplete(L, status)) {
    lua_settop(L, 0);
    return true;
  }
  const std::string text = std::exchange(pending, "");
  status == LUA_OK ? run(L, text) : report(L);
  lua_settop(L, 0);
  return !told_to_end();
}

}  // namespace

bool run_prompt(lua_State* L) {
  std::printf("Crescent %s (%s). help() helps, Ctrl-D ends.\n", CRESCENT_VERSION, LUA_VERSION);
  std::string pending;
  Editor editor([&](const std::string& text) {
    return complete(L, pending.empty() ? text : pending + "\n" + text);
  });
  lua_settop(L, 0);
  begin_prompt();
  while (read_and_run(L, editor, pending)) {
  }
  std::printf("\n");
  return !told_to_end();
}

}  // namespace crescent::program

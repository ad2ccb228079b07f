#include "prompt.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "assistance.h"
#include "crescent/base/error.h"
#include "crescent/base/export.h"
#include "editor/editor.h"
#include "entry.h"
#include "lua_state.h"
#include "lua_tokens.h"
#include "module/lua/state_lock.h"
#include "module/models/background.h"
#include "module/values/interruption.h"
#include "signals.h"

namespace crescent::program {
namespace {

/// $XDG_STATE_HOME/crescent/history; empty without a home.
std::string history_path() {
  const char *state = std::getenv("XDG_STATE_HOME"), *home = std::getenv("HOME");
  std::string folder = state && *state == '/' ? state
                       : home && *home == '/' ? std::string(home) + "/.local/state"
                                              : "";
  if (folder.empty()) return "";
  folder += "/crescent";
  for (size_t slash = folder.find('/', 1);; slash = folder.find('/', slash + 1)) {
    mkdir(folder.substr(0, slash).c_str(), 0700);
    if (slash == std::string::npos) break;
  }
  return folder + "/history";
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

void load_and_run(lua_State* L, const std::string& text) {
  std::string shown;
  load_entry(L, text, shown) == LUA_OK ? run(L, shown) : report(L, text);
  lua_settop(L, 0);
}

/// Calls f when the Lua state is free soon; a run in the background may be in the middle of a
/// batch.
template <class F>
auto unless_busy(F f) -> decltype(f()) {
  constexpr std::chrono::milliseconds kSoon{20};
  lua::StateLock& lock = lua::StateLock::instance();
  if (!lock.try_lock_for(kSoon)) return {};
  auto result = f();
  lock.unlock();
  return result;
}

editor::Callbacks callbacks(lua_State* L, EntryChecker& checker) {
  return {[&](const std::string& text) { return checker.is_complete(text); },
          [](const std::string& text, size_t cursor) { return lua_styles(text, cursor); },
          [L](const std::string& text, size_t cursor) {
            return unless_busy([&] { return hint(L, text, cursor); });
          },
          [L](const std::string& text, size_t cursor) {
            return unless_busy([&] { return completions(L, text, cursor); });
          }};
}

void tell_of_failed_runs() {
  for (const std::string& error : lua::untold_errors_of_runs())
    std::fprintf(stderr, "crescent: %s\n", printable(error).c_str());
}

editor::Settings settings() {
  editor::Settings settings;
  settings.history = history_path();
  settings.is_stopped = [] { return stop_signal() != 0; };
  return settings;
}

/// Signals end the reading, and do nothing to Lua, which is left to runs in the background.
editor::Editor::Result read(editor::Editor& editor, std::string& text) {
  const StopSignals signals(nullptr);
  const lua::UnlockedState unlocked;
  return editor.read(text);
}

using LuaState = std::unique_ptr<lua_State, void (*)(lua_State*)>;

}  // namespace

bool run_prompt(lua_State* L) {
  using Result = editor::Editor::Result;
  std::printf("Crescent %s (%s). help() helps, Ctrl-D ends.\n", CRESCENT_VERSION, LUA_VERSION);
  const LuaState parser(luaL_newstate(), lua_close);  // L may be busy when Enter is pressed
  EntryChecker checker(parser ? parser.get() : L);
  editor::Editor editor(callbacks(L, checker), settings());
  lua_settop(L, 0);
  begin_prompt();
  for (std::string text; !told_to_end();) {
    const Result result = read(editor, text);
    tell_of_failed_runs();
    if (result == Result::end) break;
    if (result == Result::entry) load_and_run(L, text);
  }
  std::printf("\n");
  return !told_to_end();
}

}  // namespace crescent::program

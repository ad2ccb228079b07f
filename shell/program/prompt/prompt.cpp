#include "prompt.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assistance.h"
#include "crash_note.h"
#include "crescent/base/error.h"
#include "crescent/base/export.h"
#include "crescent/system/user_folder.h"
#include "editor/editor.h"
#include "entry.h"
#include "module/background/background.h"
#include "module/lua/state_lock.h"
#include "program/lua/lua_state.h"
#include "program/lua/lua_tokens.h"
#include "program/lua/signals.h"
#include "session.h"

namespace crescent::program {
namespace {

/// The path $XDG_STATE_HOME/crescent/history; empty if there is no home folder.
std::string history_path() {
  const std::string folder = user_folder(UserFolder::state);
  if (folder.empty()) return "";
  for (size_t slash = folder.find('/', 1);; slash = folder.find('/', slash + 1)) {
    mkdir(folder.substr(0, slash).c_str(), 0700);
    if (slash == std::string::npos) break;
  }
  return folder + "/history";
}

/// The path in CRESCENT_INIT. If that is not set: $XDG_CONFIG_HOME/crescent/init.lua if this file
/// exists, else empty.
std::string startup_path() {
  if (const char* path = std::getenv("CRESCENT_INIT")) return path;
  const std::string folder = user_folder(UserFolder::config), path = folder + "/init.lua";
  return !folder.empty() && access(path.c_str(), F_OK) == 0 ? path : "";
}

/// Calls f if the Lua state becomes free within a short time; else returns an empty result. A run
/// in the background may hold the lock of the Lua state. If f uses objects of a step that computes,
/// it fails unless the batch ends within a short time.
template <class F>
auto unless_busy(F f) -> decltype(f()) {
  constexpr std::chrono::milliseconds kSoon{20};
  lua::StateLock& lock = lua::StateLock::instance();
  if (!lock.try_lock_for(kSoon)) return {};
  const lua::StepPatience patience(kSoon);
  auto result = f();
  lock.unlock();
  return result;
}

/// The lines above an entry that report runs in the background: the latest line of each run.
class News {
 public:
  /// Removes the lines that were shown above the previous entry.
  void begin_entry() {
    lua::refresh_runs();
    lines_.clear();
  }

  /// Adds the latest news; returns all lines, each with a newline.
  std::string text() {
    for (auto& [run, line] : lua::news_of_runs()) {
      const auto it = std::find_if(lines_.begin(), lines_.end(),
                                   [&](const auto& entry) { return entry.first == run; });
      auto& run_and_line = it == lines_.end() ? lines_.emplace_back(run, "") : *it;
      run_and_line.second = printable(line) + "\n";
    }
    std::string text;
    for (const auto& [run, line] : lines_) text += line;
    return text;
  }

 private:
  std::vector<std::pair<const void*, std::string>> lines_;
};

editor::Callbacks callbacks(lua_State* L, EntryChecker& checker, News& news) {
  return {[&](const std::string& text) { return checker.is_complete(text); },
          [](const std::string& text, size_t cursor) { return lua_styles(text, cursor); },
          [L](const std::string& text, size_t cursor) {
            return unless_busy([&] { return hint(L, text, cursor); });
          },
          [L](const std::string& text, size_t cursor) {
            return unless_busy([&] { return completions(L, text, cursor); });
          },
          [&news, is_interactive = isatty(STDIN_FILENO) != 0] {
            return is_interactive ? news.text() : "";
          }};
}

void report_failed_runs() {
  for (const std::string& error : lua::unreported_errors_of_runs())
    std::fprintf(stderr, "crescent: %s\n", printable(error).c_str());
}

editor::Settings settings() {
  editor::Settings settings;
  settings.history = history_path();
  settings.is_stopped = [] { return stop_signal() != 0; };
  return settings;
}

/// Reads an entry. While it reads, a signal ends the reading and does not interrupt Lua code of
/// runs in the background. Without SA_RESTART a signal also ends the read() of plain lines, which
/// are not edited.
editor::Editor::Result read(editor::Editor& editor, std::string& text) {
  const StopSignalHandling signal_handling(nullptr, 0);
  const lua::UnlockedState unlocked_state;
  return editor.read(text);
}

/// Reads and runs entries. Without a terminal no prompts are shown.
void read_entries(editor::Editor& editor, Session& session, News& news) {
  using Result = editor::Editor::Result;
  const bool is_interactive = isatty(STDIN_FILENO);
  for (std::string text; !has_final_signal() && !session.has_ended();) {
    editor.set_prompts(is_interactive ? prompts(session.entry_number()) : editor::Prompts{"", ""});
    report_failed_runs();
    news.begin_entry();
    const Result result = read(editor, text);
    report_failed_runs();
    if (result == Result::end && is_interactive) std::printf("\n");
    if (result == Result::end) return;
    if (result == Result::entry) session.evaluate(text);
  }
}

using LuaState = std::unique_ptr<lua_State, void (*)(lua_State*)>;

}  // namespace

editor::Prompts prompts(int number) {
  const std::string first = concat("[", number, "]> ");
  return {first, std::string(first.size() - 3, ' ') + ">> "};
}

int run_prompt(lua_State* L, Variables& variables, bool has_startup) {
  if (isatty(STDIN_FILENO))
    std::printf("Crescent %s (%s). help() helps, Ctrl-D ends.\n", CRESCENT_VERSION, LUA_VERSION);
  lua_settop(L, 0);
  begin_prompt();
  Session session(L, variables);
  const std::string startup = has_startup ? startup_path() : "";
  if (!startup.empty()) run_file(L, startup.c_str(), &variables);
  // The parser has a Lua state of its own, because L may be busy when Enter is pressed.
  const LuaState parser_state(luaL_newstate(), lua_close);
  EntryChecker checker(parser_state ? parser_state.get() : L);
  News news;
  editor::Editor editor(callbacks(L, checker, news), settings());
  if (isatty(STDIN_FILENO)) name_history_in_crashes(history_path());
  lua::set_news_listener(editor::wake_editor);
  std::optional<StopSignalHandling>
      signal_handling;  // saves each pasted entry the installation of its handlers
  if (editor.can_edit()) signal_handling.emplace(nullptr);
  read_entries(editor, session, news);
  variables.close();
  return has_final_signal() ? 1 : session.status();
}

}  // namespace crescent::program

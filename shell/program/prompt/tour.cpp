#include "tour.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "crescent/base/error.h"
#include "editor/screen/screen.h"
#include "editor/screen/terminal.h"
#include "host/temporary_folder.h"
#include "module/library/lua_sources.h"
#include "module/lua/state_lock.h"
#include "program/lua/lua_state.h"
#include "program/lua/lua_tokens.h"
#include "program/lua/signals.h"
#include "prompt.h"
#include "session.h"

namespace crescent::program {
namespace {

namespace fs = std::filesystem;

constexpr int kLetterPause = 20, kPauseBeforeTyping = 1200,
              kPauseAfterResult = 4000;  // pauses in milliseconds

/// An entry of the prompt that the tour types, and the explanation printed before it.
struct TourEntry {
  std::string explanation, code;
};

/// The entries of the tour in shell/lua/prompt/tour.lua.
std::vector<TourEntry> tour_entries(lua_State* L) {
  const std::string_view text = lua::lua_source("prompt/tour").text;
  if (luaL_loadbuffer(L, text.data(), text.size(), "=tour") != LUA_OK) lua_error(L);
  lua_call(L, 0, 1);
  std::vector<TourEntry> entries;
  for (lua_Integer i = 1; lua_geti(L, -1, i) == LUA_TTABLE; ++i, lua_settop(L, 1)) {
    lua_geti(L, -1, 1);
    lua_geti(L, -2, 2);
    entries.push_back({lua_tostring(L, -2), lua_tostring(L, -1)});
  }
  lua_settop(L, 0);
  return entries;
}

void print_plain(const std::string& entry, const editor::Prompts& prompts) {
  std::string text = prompts.first;
  for (const char c : entry) text += c == '\n' ? "\n" + prompts.next : std::string(1, c);
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

/// The terminal on which the tour is shown. A user at a terminal sees the entries being typed; a
/// key ends a pause.
class TourTerminal {
 public:
  explicit TourTerminal(bool is_fast) : is_slow_(!is_fast && terminal_.can_edit()) {}

  bool is_slow() const { return is_slow_; }
  bool has_ended() const { return has_ended_ || has_final_signal(); }
  void print_line(const std::string& text) const {
    std::printf(terminal_.is_modern() ? "\x1b[1m%s\x1b[m\n" : "%s\n", text.c_str());
    std::fflush(stdout);
  }
  void type(const std::string& entry, const editor::Prompts& prompts);
  void pause(int milliseconds);

 private:
  void show(const std::string& entry, const editor::Prompts& prompts, size_t end);
  bool wait_for_key(int milliseconds);

  editor::Terminal terminal_{STDIN_FILENO, STDOUT_FILENO};
  editor::Screen screen_{terminal_.is_modern()};
  size_t first_visible_row_ = 0;
  bool is_slow_, has_ended_ = false;
};

/// Waits for a key, while runs in the background continue; returns whether one was pressed. A
/// Ctrl-C that arrived as a signal, while the terminal was in its normal mode, counts as a key.
bool TourTerminal::wait_for_key(int milliseconds) {
  if (stop_signal()) return has_ended_ = true;
  const lua::UnlockedState unlocked;
  pollfd input{terminal_.input(), POLLIN, 0};
  if (poll(&input, 1, milliseconds) <= 0) return false;
  char keys[64];
  const ssize_t count = ::read(terminal_.input(), keys, sizeof keys);
  const std::string_view typed_keys(keys, static_cast<size_t>(std::max<ssize_t>(count, 0)));
  if (count <= 0 || typed_keys.find_first_of("qQ\x03\x04") != typed_keys.npos) has_ended_ = true;
  return true;
}

void TourTerminal::pause(int milliseconds) {
  if (!is_slow_ || has_ended()) return;
  terminal_.enter();
  wait_for_key(milliseconds);
  terminal_.leave(false);
}

void TourTerminal::show(const std::string& entry, const editor::Prompts& prompts, size_t end) {
  const std::string typed_text = entry.substr(0, end);
  const editor::View view{typed_text, end, lua_styles(entry, 0), "", {}};
  terminal_.write(
      screen_.show(editor::lay_out(view, prompts, terminal_.size(), first_visible_row_)));
}

void TourTerminal::type(const std::string& entry, const editor::Prompts& prompts) {
  if (!terminal_.can_edit()) return print_plain(entry, prompts);
  first_visible_row_ = 0;
  terminal_.enter();
  bool shows_whole_entry = !is_slow_;
  for (size_t end = 0; !shows_whole_entry && !has_ended() && end < entry.size(); ++end) {
    show(entry, prompts, end);
    shows_whole_entry = wait_for_key(kLetterPause);
  }
  show(entry, prompts, entry.size());
  terminal_.write(screen_.leave());
  terminal_.leave(false);
}

/// Prints the explanation of an entry, types the entry and runs it.
void show_entry(const TourEntry& entry, Session& session, TourTerminal& tour_terminal) {
  tour_terminal.print_line(entry.explanation);
  tour_terminal.pause(kPauseBeforeTyping);
  if (tour_terminal.has_ended()) return;
  tour_terminal.type(entry.code, prompts(session.entry_number()));
  if (tour_terminal.has_ended()) return;
  session.evaluate(entry.code);
  std::printf("\n");
  std::fflush(stdout);
}

/// Switches the pager off, because it would wait for the user.
void prepare_session(lua_State* L) {
  if (luaL_dostring(L, "cr.config.print { pager = false }") != LUA_OK) lua_error(L);
  begin_prompt();
}

}  // namespace

bool run_tour(lua_State* L, bool is_fast) {
  const std::vector<TourEntry> entries = tour_entries(L);
  const TemporaryFolder folder;
  prepare_session(L);
  Variables variables(L);
  Session session(L, variables);
  const StopSignalHandling signal_handling(
      nullptr);  // signals are also recorded between keys and between entries
  TourTerminal tour_terminal(is_fast);
  tour_terminal.print_line(tour_terminal.is_slow()
                               ? "A tour of the prompt. A key goes on, q ends.\n"
                               : "A tour of the prompt.\n");
  for (size_t i = 0; i < entries.size() && !tour_terminal.has_ended() && !stop_signal(); ++i) {
    if (i > 0) tour_terminal.pause(kPauseAfterResult);
    if (!tour_terminal.has_ended()) show_entry(entries[i], session, tour_terminal);
  }
  tour_terminal.print_line(
      "That was the tour: `crescent` is the prompt, help() tells of the rest.");
  variables.close();
  return !has_final_signal();
}

}  // namespace crescent::program

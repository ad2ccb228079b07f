// The commands of the editor and the keys that run them.
#include <poll.h>
#include <signal.h>

#include "external.h"
#include "session.h"

namespace crescent::editor {

namespace {

/// True when `key` is in `keys`, a list separated by spaces. A list item such as "C-x,C-e" means
/// two keys that are pressed one after the other.
bool is_one_of(std::string_view keys, const std::string& key) {
  const size_t position = keys.find(key), end = position + key.size();
  if (position == keys.npos) return false;
  if ((position == 0 || keys[position - 1] == ' ') && (end == keys.size() || keys[end] == ' '))
    return true;
  return is_one_of(keys.substr(end), key);
}

}  // namespace

Editor::Session::Command Editor::Session::command_of(const std::string& key) {
  using S = Session;
  struct Binding {
    std::string_view keys;
    Command command;
  };
  static constexpr Binding kBindings[] = {
      {"Enter C-j", [](S& s) { s.handle_enter_key(); }},
      {"A-Enter S-Enter", [](S& s) { s.buffer_.insert("\n"); }},
      {"Tab", [](S& s) { s.complete(); }},
      {"Left C-b", [](S& s) { s.buffer_.move(s.buffer_.previous_letter_start()); }},
      {"Right C-f",
       [](S& s) { s.insert_hint(true) ? void() : s.buffer_.move(s.buffer_.next_letter_end()); }},
      {"C-Left A-Left A-b", [](S& s) { s.buffer_.move(s.buffer_.previous_word_start()); }},
      {"C-Right A-Right A-f",
       [](S& s) { s.insert_hint(false) ? void() : s.buffer_.move(s.buffer_.next_word_end()); }},
      {"Home Find C-a", [](S& s) { s.buffer_.move(s.buffer_.line_start()); }},
      {"End Select C-e",
       [](S& s) { s.insert_hint(true) ? void() : s.buffer_.move(s.buffer_.line_end()); }},
      {"A-< C-Home", [](S& s) { s.buffer_.move(0); }},
      {"A-> C-End", [](S& s) { s.buffer_.move(s.buffer_.text().size()); }},
      {"Up", [](S& s) { s.buffer_.on_first_line() ? s.recall_older() : s.buffer_.move_up(); }},
      {"Down", [](S& s) { s.buffer_.on_last_line() ? s.recall_newer() : s.buffer_.move_down(); }},
      {"C-p PageUp", [](S& s) { s.recall_older(); }},
      {"C-n PageDown", [](S& s) { s.recall_newer(); }},
      {"C-r", [](S& s) { s.begin_search(); }},
      {"Backspace C-h",
       [](S& s) { s.erase(s.buffer_.previous_letter_start(), s.buffer_.cursor()); }},
      {"Delete", [](S& s) { s.erase(s.buffer_.cursor(), s.buffer_.next_letter_end()); }},
      {"C-w A-Backspace",
       [](S& s) { s.kill(s.buffer_.previous_word_start(), s.buffer_.cursor()); }},
      {"A-d C-Delete", [](S& s) { s.kill(s.buffer_.cursor(), s.buffer_.next_word_end()); }},
      {"C-u", [](S& s) { s.kill(s.buffer_.line_start(), s.buffer_.cursor()); }},
      {"C-k", [](S& s) { s.kill_to_line_end(); }},
      {"C-y", [](S& s) { s.buffer_.insert(s.killed_text_); }},
      {"C-_ C-x,C-u", [](S& s) { s.buffer_.undo() ? void() : s.bell(); }},
      {"C-x,C-e", [](S& s) { s.edit_in_program(); }},
      {"C-l", [](S& s) { s.clear_terminal(); }},
      {"C-c", [](S& s) { s.finish(Result::interrupted); }},
      {"C-d", [](S& s) { s.erase_or_end_session(); }},
      {"C-z", [](S& s) { s.suspend(); }},
  };
  for (const Binding& binding : kBindings)
    if (is_one_of(binding.keys, key)) return binding.command;
  return nullptr;
}

void Editor::Session::handle_enter_key() {
  callbacks_.is_complete(buffer_.text()) ? finish(Result::entry) : buffer_.insert("\n");
}

/// The command of Ctrl-D: erases the letter at the cursor. With the cursor at the end of a block of
/// several lines, cancels the block; without any text, ends the session.
void Editor::Session::erase_or_end_session() {
  if (buffer_.text().empty()) return finish(Result::end);
  if (buffer_.cursor() < buffer_.text().size())
    return erase(buffer_.cursor(), buffer_.next_letter_end());
  if (!buffer_.on_first_line()) finish(Result::interrupted);
}

void Editor::Session::leave_terminal() {
  std::string text = final_output();
  text += screen_.leave();
  terminal_.write(text);
  terminal_.leave(false);
}

void Editor::Session::reenter_terminal() {
  terminal_.enter();
  size_ = terminal_.size();
}

/// Stops all processes of the job, as the terminal does on Ctrl-Z. If no shell controls this
/// process, the signal does not stop the process, which continues after kStopTimeout.
void Editor::Session::suspend() {
  constexpr int kStopTimeout = 200;  // milliseconds to wait until the process is stopped
  leave_terminal();
  ::kill(0, SIGTSTP);
  pollfd wakeups{Wakeups::file(), POLLIN, 0};
  poll(&wakeups, 1, kStopTimeout);
  Wakeups::clear();
  reenter_terminal();
}

void Editor::Session::clear_terminal() {
  terminal_.write("\x1b[H\x1b[2J");
  screen_.forget();
}

void Editor::Session::edit_in_program() {
  std::string text = buffer_.text();
  leave_terminal();
  const bool was_edited = edit_externally(text);
  reenter_terminal();
  if (was_edited) buffer_.replace(0, buffer_.text().size(), text);
}

void Editor::Session::begin_search() {
  history_.refresh();
  search_.begin(buffer_.text(), history_.entries().size());
}

/// Inserts the hint, or its first word; returns false unless the cursor is in front of a hint.
bool Editor::Session::insert_hint(bool inserts_all) {
  if (buffer_.cursor() < buffer_.text().size() || hint_.empty()) return false;
  Buffer hint_buffer;
  hint_buffer.reset(hint_, 0);
  buffer_.insert(inserts_all ? hint_ : hint_.substr(0, hint_buffer.next_word_end()));
  hint_.clear();
  return true;
}

/// Shows the history's entry with this index. The index after the last entry means the draft, the
/// text that was typed before older entries were shown.
void Editor::Session::recall(size_t index) {
  recalled_index_ = index;
  const std::vector<std::string>& entries = history_.entries();
  buffer_.reset(index < entries.size() ? entries[index] : draft_, 0);
  first_visible_row_ = 0;
}

/// Shows an older entry that begins with the text in front of the cursor.
void Editor::Session::recall_older() {
  const std::vector<std::string>& entries = history_.entries();
  if (recalled_index_ >= entries.size() || entries[recalled_index_] != buffer_.text()) {
    history_.refresh();
    recalled_index_ = entries.size();
    draft_ = buffer_.text();
    draft_start_ = buffer_.before_cursor();
  }
  size_t index = history_.find_entry_with_start(recalled_index_, draft_start_);
  while (index < entries.size() && entries[index] == buffer_.text())
    index = history_.find_entry_with_start(index, draft_start_);
  if (index >= entries.size()) return bell();
  recall(index);
  buffer_.move(buffer_.line_end());
}

void Editor::Session::recall_newer() {
  const std::vector<std::string>& entries = history_.entries();
  if (recalled_index_ >= entries.size()) return bell();
  size_t next_index = recalled_index_ + 1;
  while (next_index < entries.size() &&
         (!entries[next_index].starts_with(draft_start_) || entries[next_index] == buffer_.text()))
    ++next_index;
  recall(next_index);
  buffer_.move(buffer_.text().size());
}

void Editor::Session::kill(size_t from, size_t to) {
  if (from == to) return bell();
  killed_text_ = buffer_.text().substr(from, to - from);
  erase(from, to);
}

/// Erases to the end of the line; at the end of a line, joins it with the next one.
void Editor::Session::kill_to_line_end() {
  const size_t end = buffer_.line_end();
  kill(buffer_.cursor(), end > buffer_.cursor() ? end : buffer_.next_letter_end());
}

}  // namespace crescent::editor

// The editing of one entry: the effects of keys, and drawing.
#pragma once
#include <optional>
#include <string>

#include "buffer.h"
#include "editor.h"
#include "history.h"
#include "screen/input.h"
#include "screen/terminal.h"
#include "search.h"

namespace crescent::editor {

class Editor::Session {
 public:
  Session(const Callbacks& callbacks, const Settings& settings);
  bool can_edit() const { return terminal_.can_edit(); }
  Result edit(std::string& entry);

 private:
  using Command = void (*)(Session&);
  /// The command of a key, or of two keys that are pressed one after the other; null if there is
  /// none.
  static Command command_of(const std::string& key);

  void begin();
  void show_and_wait();
  void handle(const Event& event);
  void wake(bool was_stopped);
  void insert_text(const std::string& text);
  void insert_pasted(const std::string& text);
  void press(std::string key);
  bool press_in_search(const std::string& key);
  bool press_in_menu(const std::string& key);
  void show_found_entry();
  void show_selected_candidate();
  void open_menu();
  void finish(Result result);

  void draw();
  std::string final_output();
  std::string output_of(const View& view);
  std::vector<CellRow> rows_of_news() const;
  std::vector<CellRow> rows_below() const;
  std::string history_hint();
  std::vector<Style> styles(size_t cursor) const;

  void handle_enter_key();
  void erase_or_end_session();
  void suspend();
  void clear_terminal();
  void edit_in_program();
  void complete();
  void begin_search();
  void recall_older();
  void recall_newer();
  void erase(size_t from, size_t to) { buffer_.replace(from, to, ""); }
  bool insert_hint(bool inserts_all);
  void kill(size_t from, size_t to);
  void kill_to_line_end();
  void recall(size_t index);
  void leave_terminal();
  void reenter_terminal();
  void bell() const { terminal_.write("\a"); }

  const Callbacks& callbacks_;
  const Settings& settings_;
  Terminal terminal_;
  Input input_;
  Screen screen_;
  History history_;
  Buffer buffer_;
  Menu menu_;
  Search search_;
  std::optional<Wakeups> wakeups_;  // exists from the first wait for input to the end of the entry
  Size size_;
  size_t first_visible_row_ = 0;
  std::string news_, hint_, killed_text_, pending_keys_;
  // The text that was typed before older entries were shown, and the part of it in front of the
  // cursor.
  std::string draft_, draft_start_;
  // The index of the history entry that is shown; the index after the last entry means the draft.
  size_t recalled_index_ = 0;
  bool is_finished_ = false;
  Result result_ = Result::entry;
};

}  // namespace crescent::editor

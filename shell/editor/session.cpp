#include "session.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace crescent::editor {
namespace {

constexpr size_t kMenuRows = 10;
// the first key of those bindings that consist of two keys
constexpr std::string_view kFirstKey = "C-x";

}  // namespace

Editor::Session::Session(const Callbacks& callbacks, const Settings& settings)
    : callbacks_(callbacks),
      settings_(settings),
      terminal_(settings.input, settings.output),
      input_(settings.input, settings.is_stopped),
      screen_(terminal_.is_modern()),
      history_(settings.history) {}

void Editor::Session::begin() {
  is_finished_ = false;
  buffer_.reset("", 0);
  menu_.close();
  search_.end();
  pending_keys_.clear();
  size_ = terminal_.size();
  first_visible_row_ = 0;
  if (!terminal_.is_raw()) terminal_.enter();
  terminal_.start_row();
  news_ = callbacks_.news();
}

/// Draws the entry and prepares for a wait for input. If a pasted text with several entries has
/// arrived as a whole, no wait is needed, and none of these system calls.
void Editor::Session::show_and_wait() {
  if (!wakeups_) {
    wakeups_.emplace();
    size_ = terminal_.size();
  }
  terminal_.enter();
  draw();
}

Editor::Result Editor::Session::edit(std::string& entry) {
  begin();
  if (!input_.pending()) show_and_wait();
  history_.refresh();
  recalled_index_ = history_.entries().size();
  while (!is_finished_) {
    handle(input_.next(Wakeups::file()));
    if (!is_finished_ && !input_.pending()) show_and_wait();
  }
  wakeups_.reset();
  entry = buffer_.text();
  if (result_ == Result::entry && entry.find_first_not_of(" \t\n") != entry.npos)
    history_.add(entry);
  return result_;
}

void Editor::Session::handle(const Event& event) {
  switch (event.kind) {
    case Event::Kind::text:
      return insert_text(event.text);
    case Event::Kind::pasted:
      return insert_pasted(event.text);
    case Event::Kind::key:
      return press(event.text);
    case Event::Kind::woken:
      return wake(Wakeups::clear());
    case Event::Kind::stopped:
      return finish(Result::interrupted);
    case Event::Kind::closed:
      return finish(Result::end);
  }
}

/// Prepares for drawing the entry again, with the latest news. If the process was stopped
/// (`was_stopped`), other programs may have written below the entry. If the size of the terminal
/// has changed, its rows may have been moved and broken.
void Editor::Session::wake(bool was_stopped) {
  const Size size = terminal_.size();
  if (was_stopped) {
    terminal_.leave(false);
    terminal_.enter();
    screen_.forget();
  } else if (size.columns != size_.columns || size.rows != size_.rows) {
    terminal_.write(screen_.erase(size.columns, terminal_.breaks_rows()));
  }
  size_ = size;
  news_ = callbacks_.news();
}

void Editor::Session::insert_text(const std::string& text) {
  pending_keys_.clear();
  if (search_.is_active()) return search_.extend(text, history_), show_found_entry();
  const bool narrows_menu = menu_.is_open();
  menu_.close();
  buffer_.insert(text);
  if (narrows_menu && !input_.pending()) open_menu();
}

void Editor::Session::insert_pasted(const std::string& text) {
  search_.end();
  menu_.close();
  buffer_.insert(text);
}

void Editor::Session::press(std::string key) {
  if (!pending_keys_.empty()) key = std::exchange(pending_keys_, "") + "," + key;
  if (search_.is_active() && press_in_search(key)) return;
  if (menu_.is_open() && press_in_menu(key)) return;
  if (key == kFirstKey)
    pending_keys_ = key;
  else if (const Command command = command_of(key))
    command(*this);
}

/// Handles a key during the search. For keys that are not commands of the search, ends the search,
/// keeps the entry that was found, and returns false, so that the editor handles the key.
bool Editor::Session::press_in_search(const std::string& key) {
  if (key == "C-r") return search_.find_older(history_), show_found_entry(), true;
  if (key == "Backspace" || key == "C-h")
    return search_.shorten(history_), show_found_entry(), true;
  search_.end();
  if (key != "Escape" && key != "C-g" && key != "C-c") return false;
  buffer_.reset(search_.original_text(), search_.original_text().size());
  return true;
}

void Editor::Session::show_found_entry() {
  const std::string& entry = search_.found_entry();
  buffer_.reset(entry, std::min(entry.find(search_.pattern()), entry.size()));
}

/// Handles a key while the menu is open. For keys that are not commands of the menu, closes the
/// menu, keeps the selected candidate, and returns false, so that the editor handles the key.
bool Editor::Session::press_in_menu(const std::string& key) {
  if (key == "Tab" || key == "Down") return menu_.step(1), show_selected_candidate(), true;
  if (key == "S-Tab" || key == "Up") return menu_.step(-1), show_selected_candidate(), true;
  const bool has_selection = menu_.selected_candidate() != nullptr,
             is_cancelled = key == "Escape" || key == "C-g";
  if (is_cancelled && has_selection)
    buffer_.replace(menu_.begin(), buffer_.cursor(), menu_.typed_text());
  menu_.close();
  return is_cancelled || (key == "Enter" && has_selection);
}

void Editor::Session::show_selected_candidate() {
  buffer_.replace(menu_.begin(), buffer_.cursor(), menu_.selected_candidate()->text);
}

void Editor::Session::open_menu() {
  Completions completions = callbacks_.completions(buffer_.text(), buffer_.cursor());
  if (completions.candidates.empty()) return;
  const std::string typed_text(buffer_.before_cursor().substr(completions.begin));
  if (completions.candidates.size() > 1 || completions.candidates[0].text != typed_text)
    menu_.open(std::move(completions), typed_text);
}

void Editor::Session::complete() {
  const bool is_blank_line =
      buffer_.before_cursor().substr(buffer_.line_start()).find_first_not_of(" \t") ==
      std::string_view::npos;
  if (input_.in_burst()) return buffer_.insert("\t");
  if (is_blank_line) return buffer_.insert("  ");
  const Completions completions = callbacks_.completions(buffer_.text(), buffer_.cursor());
  if (completions.candidates.empty()) return bell();
  const std::string start = common_start(completions.candidates);
  if (start.size() > buffer_.cursor() - completions.begin)
    buffer_.replace(completions.begin, buffer_.cursor(), start);
  if (completions.candidates.size() > 1) open_menu();
}

void Editor::Session::finish(Result result) {
  is_finished_ = true;
  result_ = result;
  menu_.close();
  search_.end();
  std::string text = final_output();
  if (result == Result::interrupted) text += "^C";
  if (result != Result::end) text += screen_.leave();
  terminal_.write(text);
  screen_.forget();
  terminal_.leave(result == Result::entry && input_.pending());
}

/// The rest of the latest entry in the history that begins with the text.
std::string Editor::Session::history_hint() {
  const std::string& text = buffer_.text();
  if (text.empty() || buffer_.cursor() != text.size() || search_.is_active()) return "";
  const size_t index = history_.find_entry_with_start(history_.entries().size(), text);
  return index == text.npos ? "" : history_.entries()[index].substr(text.size());
}

std::vector<Style> Editor::Session::styles(size_t cursor) const {
  std::vector<Style> styles = callbacks_.colours(buffer_.text(), cursor);
  if (!search_.is_active()) return styles;
  styles.resize(buffer_.text().size());
  const size_t end = std::min(buffer_.cursor() + search_.pattern().size(), styles.size());
  for (size_t i = buffer_.cursor(); i < end; ++i) styles[i] = Style::found;
  return styles;
}

std::vector<CellRow> Editor::Session::rows_below() const {
  const size_t half_screen = static_cast<size_t>(size_.rows) / 2;
  if (menu_.is_open()) return menu_.rows(std::min(kMenuRows, half_screen), size_.columns);
  const std::string line =
      search_.is_active() ? search_.status() : callbacks_.hint(buffer_.text(), buffer_.cursor());
  std::vector<CellRow> rows(line.empty() ? 0 : 1);
  for (CellRow& row : rows) append(row, line, Style::faint, size_.columns - 1);
  return rows;
}

void Editor::Session::draw() {
  hint_ = history_hint();
  const size_t line_end = hint_.find('\n');
  const std::string shown_hint = hint_.substr(0, line_end) + (line_end == hint_.npos ? "" : " ...");
  const View view{buffer_.text(), buffer_.cursor(), styles(buffer_.cursor()), shown_hint,
                  rows_below()};
  terminal_.write(output_of(view));
}

/// Returns the output that draws the entry a last time, without hint and menu, as it remains on the
/// screen.
std::string Editor::Session::final_output() {
  const size_t end = buffer_.text().size();
  return output_of({buffer_.text(), end, styles(std::string::npos), "", {}});
}

/// The last rows of the news, which take at most half of the rows of the terminal.
std::vector<CellRow> Editor::Session::rows_of_news() const {
  if (news_.empty()) return {};
  const std::string text = news_.substr(0, news_.size() - 1);
  size_t first_visible_row = 0;
  const View view{text, text.size(), std::vector<Style>(text.size(), Style::faint), "", {}};
  return lay_out(view, {"", ""}, {size_.rows / 2, size_.columns}, first_visible_row).rows;
}

/// Returns the output that draws the news and, below them, the entry.
std::string Editor::Session::output_of(const View& view) {
  std::vector<CellRow> news_rows = rows_of_news();
  const Size entry_size{size_.rows - static_cast<int>(news_rows.size()), size_.columns};
  Frame frame = lay_out(view, settings_.prompts, entry_size, first_visible_row_);
  frame.cursor_row += news_rows.size();
  frame.rows.insert(frame.rows.begin(), std::make_move_iterator(news_rows.begin()),
                    std::make_move_iterator(news_rows.end()));
  return screen_.show(frame);
}

}  // namespace crescent::editor

// The search through the history, from the latest entry to the oldest.
#pragma once
#include <string>

#include "history.h"

namespace crescent::editor {

class Search {
 public:
  bool is_active() const { return is_active_; }
  /// Begins a search; cancelling it restores `text`.
  void begin(const std::string& text, size_t entry_count);
  void end() { is_active_ = false; }
  /// Adds `text` to the pattern and searches again from the entry that was found last.
  void extend(const std::string& text, const History& history);
  void shorten(const History& history);
  /// Searches for the next older entry that contains the pattern.
  void find_older(const History& history);

  const std::string& pattern() const { return pattern_; }
  /// The entry that was found; if none was, the text from before the search.
  const std::string& found_entry() const { return found_entry_; }
  const std::string& original_text() const { return original_text_; }
  /// The line that is shown while the search is active.
  std::string status() const;

 private:
  void find_from(const History& history, size_t from);

  bool is_active_ = false, has_failed_ = false;
  std::string pattern_, original_text_, found_entry_;
  size_t found_index_ = 0;
};

}  // namespace crescent::editor

// The search through the history, from the latest entry to the oldest.
#pragma once
#include <string>

#include "history.h"

namespace crescent::editor {

class Search {
 public:
  bool is_active() const { return active_; }
  /// Begins a search; cancelling it restores `text`.
  void begin(const std::string& text, size_t entries);
  void end() { active_ = false; }
  /// Adds `text` to the pattern and searches again from the entry that was found last.
  void extend(const std::string& text, const History& history);
  void shorten(const History& history);
  /// Searches for the next older entry that contains the pattern.
  void older(const History& history);

  const std::string& pattern() const { return pattern_; }
  /// The entry that was found; if none was, the text from before the search.
  const std::string& found() const { return found_; }
  const std::string& before() const { return before_; }
  /// The line that is shown while the search is active.
  std::string status() const;

 private:
  void find_from(const History& history, size_t from);

  bool active_ = false, failed_ = false;
  std::string pattern_, before_, found_;
  size_t index_ = 0;
};

}  // namespace crescent::editor

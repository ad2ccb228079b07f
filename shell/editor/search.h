// The search through the history, from the youngest entry to the oldest.
#pragma once
#include <string>

#include "history.h"

namespace crescent::editor {

class Search {
 public:
  bool is_active() const { return active_; }
  /// Begins with the text that stands there now, to which cancelling goes back.
  void begin(const std::string& text, size_t entries);
  void end() { active_ = false; }
  /// Looks for a changed pattern, from the entry that was found on.
  void extend(const std::string& text, const History& history);
  void shorten(const History& history);
  /// Goes on to an older entry.
  void older(const History& history);

  const std::string& pattern() const { return pattern_; }
  /// The entry that was found, or the text of the beginning.
  const std::string& found() const { return found_; }
  const std::string& before() const { return before_; }
  /// What the user is told while it is active.
  std::string status() const;

 private:
  void look(const History& history, size_t from);

  bool active_ = false, failed_ = false;
  std::string pattern_, before_, found_;
  size_t index_ = 0;
};

}  // namespace crescent::editor

#include "search.h"

#include "screen/letters.h"

namespace crescent::editor {

void Search::begin(const std::string& text, size_t entry_count) {
  is_active_ = true, has_failed_ = false;
  pattern_.clear();
  original_text_ = found_entry_ = text;
  found_index_ = entry_count;
}

void Search::find_from(const History& history, size_t from) {
  const size_t index = history.find_entry_with(from, pattern_);
  has_failed_ = index == std::string::npos;
  if (has_failed_) return;
  found_index_ = index;
  found_entry_ = history.entries()[index];
}

void Search::extend(const std::string& text, const History& history) {
  pattern_ += text;
  find_from(history, found_index_ + 1);
}

void Search::shorten(const History& history) {
  pattern_.resize(previous_letter(pattern_, pattern_.size()));
  find_from(history, history.entries().size());
}

void Search::find_older(const History& history) {
  for (const std::string previous_entry = found_entry_;
       found_entry_ == previous_entry && !has_failed_;)
    find_from(history, found_index_);
}

std::string Search::status() const { return (has_failed_ ? "not found: " : "search: ") + pattern_; }

}  // namespace crescent::editor

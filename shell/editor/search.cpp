#include "search.h"

#include "screen/letters.h"

namespace crescent::editor {

void Search::begin(const std::string& text, size_t entries) {
  active_ = true, failed_ = false;
  pattern_.clear();
  before_ = found_ = text;
  index_ = entries;
}

void Search::find_from(const History& history, size_t from) {
  const size_t found = history.find(from, pattern_);
  failed_ = found == std::string::npos;
  if (failed_) return;
  index_ = found;
  found_ = history.entries()[found];
}

void Search::extend(const std::string& text, const History& history) {
  pattern_ += text;
  find_from(history, index_ + 1);
}

void Search::shorten(const History& history) {
  pattern_.resize(previous_letter(pattern_, pattern_.size()));
  find_from(history, history.entries().size());
}

void Search::older(const History& history) {
  for (const std::string last = found_; found_ == last && !failed_;) find_from(history, index_);
}

std::string Search::status() const { return (failed_ ? "not found: " : "search: ") + pattern_; }

}  // namespace crescent::editor

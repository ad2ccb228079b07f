#include "buffer.h"

#include <algorithm>
#include <cctype>

#include "screen/letters.h"

namespace crescent::editor {
namespace {

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) || byte == '_' || byte >= 0x80;
}

int column_of(std::string_view line) {
  int column = 0;
  for (size_t at = 0, end; at < line.size(); at = end) {
    end = next_letter(line, at);
    column += width_of(line.substr(at, end - at), column);
  }
  return column;
}

}  // namespace

void Buffer::move(size_t to) {
  cursor_ = to;
  column_ = -1;
}

void Buffer::apply(size_t from, size_t to, std::string_view by) {
  text_.replace(from, to - from, by);
  move(from + by.size());
}

/// Adds a change for undo(). Letters that are typed one after the other become one change, which a
/// single undo() takes back.
void Buffer::remember(Change change) {
  Change* last = changes_.empty() ? nullptr : &changes_.back();
  const bool joined = last && change.removed.empty() && last->removed.empty() &&
                      last->at + last->inserted.size() == change.at &&
                      change.inserted.find_first_of(" \n") == std::string::npos;
  if (joined)
    last->inserted += change.inserted;
  else
    changes_.push_back(std::move(change));
}

void Buffer::replace(size_t from, size_t to, std::string_view by) {
  if (from == to && by.empty()) return;
  remember({from, text_.substr(from, to - from), std::string(by), cursor_});
  apply(from, to, by);
}

void Buffer::reset(std::string text, size_t cursor) {
  text_ = std::move(text);
  changes_.clear();
  move(cursor);
}

bool Buffer::undo() {
  if (changes_.empty()) return false;
  const Change last = std::move(changes_.back());
  changes_.pop_back();
  apply(last.at, last.at + last.inserted.size(), last.removed);
  move(last.cursor);
  return true;
}

size_t Buffer::previous_letter_start() const { return previous_letter(text_, cursor_); }
size_t Buffer::next_letter_end() const { return next_letter(text_, cursor_); }

size_t Buffer::line_start(size_t at) const {
  const size_t line_break = at == 0 ? text_.npos : text_.rfind('\n', at - 1);
  return line_break == text_.npos ? 0 : line_break + 1;
}

size_t Buffer::line_end(size_t at) const { return std::min(text_.find('\n', at), text_.size()); }

size_t Buffer::word_start() const {
  size_t at = cursor_;
  while (at > 0 && !is_word(text_[at - 1])) --at;
  while (at > 0 && is_word(text_[at - 1])) --at;
  return at;
}

size_t Buffer::word_end() const {
  size_t at = cursor_;
  while (at < text_.size() && !is_word(text_[at])) ++at;
  while (at < text_.size() && is_word(text_[at])) ++at;
  return at;
}

void Buffer::move_to_line(size_t start) {
  const size_t here = line_start(cursor_), end = line_end(start);
  if (column_ < 0) column_ = column_of(std::string_view(text_).substr(here, cursor_ - here));
  int column = 0;
  size_t at = start;
  while (at < end) {
    const size_t next = next_letter(text_, at);
    column += width_of(std::string_view(text_).substr(at, next - at), column);
    if (column > column_) break;
    at = next;
  }
  cursor_ = at;
}

void Buffer::move_up() { move_to_line(line_start(line_start(cursor_) - 1)); }
void Buffer::move_down() { move_to_line(line_end(cursor_) + 1); }

}  // namespace crescent::editor

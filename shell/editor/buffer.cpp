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
  for (size_t offset = 0, end; offset < line.size(); offset = end) {
    end = next_letter(line, offset);
    column += width_of(line.substr(offset, end - offset), column);
  }
  return column;
}

}  // namespace

void Buffer::move(size_t to) {
  cursor_ = to;
  column_ = -1;
}

void Buffer::apply(size_t from, size_t to, std::string_view replacement) {
  text_.replace(from, to - from, replacement);
  move(from + replacement.size());
}

/// Adds a change for undo(). Letters that are typed one after the other become one change, which a
/// single undo() takes back.
void Buffer::add_change(Change change) {
  Change* last_change = changes_.empty() ? nullptr : &changes_.back();
  const bool is_continuation =
      last_change && change.removed_text.empty() && last_change->removed_text.empty() &&
      last_change->offset + last_change->inserted_text.size() == change.offset &&
      change.inserted_text.find_first_of(" \n") == std::string::npos;
  if (is_continuation)
    last_change->inserted_text += change.inserted_text;
  else
    changes_.push_back(std::move(change));
}

void Buffer::replace(size_t from, size_t to, std::string_view replacement) {
  if (from == to && replacement.empty()) return;
  add_change({from, text_.substr(from, to - from), std::string(replacement), cursor_});
  apply(from, to, replacement);
}

void Buffer::reset(std::string text, size_t cursor) {
  text_ = std::move(text);
  changes_.clear();
  move(cursor);
}

bool Buffer::undo() {
  if (changes_.empty()) return false;
  const Change last_change = std::move(changes_.back());
  changes_.pop_back();
  apply(last_change.offset, last_change.offset + last_change.inserted_text.size(),
        last_change.removed_text);
  move(last_change.cursor);
  return true;
}

size_t Buffer::previous_letter_start() const { return previous_letter(text_, cursor_); }
size_t Buffer::next_letter_end() const { return next_letter(text_, cursor_); }

size_t Buffer::line_start(size_t offset) const {
  const size_t line_break = offset == 0 ? text_.npos : text_.rfind('\n', offset - 1);
  return line_break == text_.npos ? 0 : line_break + 1;
}

size_t Buffer::line_end(size_t offset) const {
  return std::min(text_.find('\n', offset), text_.size());
}

size_t Buffer::previous_word_start() const {
  size_t offset = cursor_;
  while (offset > 0 && !is_word(text_[offset - 1])) --offset;
  while (offset > 0 && is_word(text_[offset - 1])) --offset;
  return offset;
}

size_t Buffer::next_word_end() const {
  size_t offset = cursor_;
  while (offset < text_.size() && !is_word(text_[offset])) ++offset;
  while (offset < text_.size() && is_word(text_[offset])) ++offset;
  return offset;
}

void Buffer::move_to_line(size_t start) {
  const size_t current_line = line_start(cursor_), end = line_end(start);
  if (column_ < 0)
    column_ = column_of(std::string_view(text_).substr(current_line, cursor_ - current_line));
  int column = 0;
  size_t offset = start;
  while (offset < end) {
    const size_t next_offset = next_letter(text_, offset);
    column += width_of(std::string_view(text_).substr(offset, next_offset - offset), column);
    if (column > column_) break;
    offset = next_offset;
  }
  cursor_ = offset;
}

void Buffer::move_up() { move_to_line(line_start(line_start(cursor_) - 1)); }
void Buffer::move_down() { move_to_line(line_end(cursor_) + 1); }

}  // namespace crescent::editor

// The text of an entry, its cursor, and undo.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace crescent::editor {

class Buffer {
 public:
  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }
  std::string_view before_cursor() const { return std::string_view(text_).substr(0, cursor_); }

  void move(size_t to);
  /// Replaces a part of the text and moves the cursor behind the new part.
  void replace(size_t from, size_t to, std::string_view replacement);
  void insert(std::string_view text) { replace(cursor_, cursor_, text); }
  /// Replaces the whole text and forgets the changes that undo() could take back.
  void reset(std::string text, size_t cursor);
  /// Undoes the last change; returns false if there is none.
  bool undo();

  /// The offset at which the letter in front of the cursor begins.
  size_t previous_letter_start() const;
  /// The offset at which the letter after the cursor ends.
  size_t next_letter_end() const;
  size_t line_start() const { return line_start(cursor_); }
  size_t line_end() const { return line_end(cursor_); }
  /// previous_word_start() is the offset of the nearest start of a word before the cursor,
  /// next_word_end() that of the nearest end of a word after it.
  size_t previous_word_start() const;
  size_t next_word_end() const;
  bool on_first_line() const { return line_start() == 0; }
  bool on_last_line() const { return line_end() == text_.size(); }
  /// Moves the cursor a line up or down. Several such movements in a row keep the column in which
  /// the first one began.
  void move_up();
  void move_down();

 private:
  size_t line_start(size_t offset) const;
  size_t line_end(size_t offset) const;
  struct Change {
    size_t offset;
    std::string removed_text, inserted_text;
    size_t cursor;
  };
  void apply(size_t from, size_t to, std::string_view replacement);
  void add_change(Change change);
  void move_to_line(size_t start);

  std::string text_;
  size_t cursor_ = 0;
  int column_ = -1;  // the column that move_up() and move_down() keep; -1: the column of the cursor
  std::vector<Change> changes_;
};

}  // namespace crescent::editor

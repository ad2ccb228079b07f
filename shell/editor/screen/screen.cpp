#include "screen.h"

#include <algorithm>
#include <array>
#include <utility>

#include "letters.h"

namespace crescent::editor {
namespace {

// The value of the cursor's column when it is unknown: after the last column is written, the cursor
// stays there or moves behind it, depending on the terminal.
constexpr int kUnknownColumn = -1;

void append_move(std::string& out, size_t count, char direction) {
  if (count > 0) out += "\x1b[" + std::to_string(count) + direction;
}

/// The number of rows that a terminal of `columns` columns needs for a row of `width` cells.
size_t row_count_for(int width, int columns) {
  return static_cast<size_t>(std::max(1, (width + columns - 1) / columns));
}

}  // namespace

std::string_view sequence_of(Style style, bool has_colours) {
  constexpr std::array<std::string_view, 10> kSequences = {
      "",           "\x1b[35m", "\x1b[36m", "\x1b[32m", "\x1b[90m",
      "\x1b[1;34m", "\x1b[31m", "\x1b[7m",  "\x1b[90m", "\x1b[7m"};
  const bool is_reversed = style == Style::found || style == Style::chosen;
  return has_colours || is_reversed ? kSequences[static_cast<size_t>(style)] : "";
}

int width_of(const CellRow& row) {
  int width = 0;
  for (const Cell& cell : row) width += cell.width;
  return width;
}

void append(CellRow& row, std::string_view text, Style style, int columns) {
  int column = width_of(row);
  for (size_t begin = 0, end; begin < text.size(); begin = end) {
    end = next_letter(text, begin);
    Glyph glyph = glyph_of(text.substr(begin, end - begin), column);
    if (column + glyph.width > columns) return;
    column += glyph.width;
    if (glyph.width == 0 && !row.empty())
      row.back().shown_text += glyph.shown_text;
    else
      row.push_back({std::move(glyph.shown_text), glyph.width, style});
  }
}

void Screen::move(size_t row, int column) {
  if (row > cursor_row_) append_move(output_, row - cursor_row_, 'B');
  if (row < cursor_row_) append_move(output_, cursor_row_ - row, 'A');
  cursor_row_ = row;
  if (column == cursor_column_) return;
  output_ += '\r';
  append_move(output_, static_cast<size_t>(column), 'C');
  cursor_column_ = column;
}

void Screen::write(const CellRow& row, size_t first_cell) {
  Style style = Style::plain;
  for (size_t i = first_cell; i < row.size(); ++i) {
    const std::string_view sequence = sequence_of(row[i].style, has_colours_);
    if (sequence != sequence_of(style, has_colours_)) (output_ += "\x1b[m") += sequence;
    style = row[i].style;
    output_ += row[i].shown_text;
  }
  if (!sequence_of(style, has_colours_).empty()) output_ += "\x1b[m";
}

/// Changes the row with this index on the screen to `row`: writes only what differs, and erases the
/// rest behind it.
void Screen::change(size_t index, const CellRow& row) {
  const CellRow& old_row = rows_[index];
  const size_t common_count = static_cast<size_t>(
      std::mismatch(row.begin(), row.end(), old_row.begin(), old_row.end()).first - row.begin());
  if (common_count == row.size() && common_count == old_row.size()) return;
  const int start =
      width_of(CellRow(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(common_count)));
  const int end = width_of(row);
  move(index, start);
  // Erases before writing: after the last column is written, the cursor stays there, and erasing
  // would delete that column.
  if (width_of(old_row) > end) output_ += "\x1b[K";
  write(row, common_count);
  cursor_column_ = kUnknownColumn;
  if (common_count == row.size()) cursor_column_ = start;
  rows_[index] = row;
}

std::string Screen::show(const Frame& frame) {
  output_.clear();
  if (rows_.empty()) rows_.emplace_back();
  if (rows_.size() > frame.rows.size()) {
    move(frame.rows.size(), 0);
    output_ += "\x1b[J";
    rows_.resize(frame.rows.size());
  }
  for (size_t i = 0; i < frame.rows.size(); ++i) {
    if (i == rows_.size()) {
      move(i - 1, cursor_column_);
      output_ += '\n';
      cursor_row_ = i, cursor_column_ = 0;
      rows_.emplace_back();
    }
    change(i, frame.rows[i]);
    if (cursor_column_ == kUnknownColumn && cursor_row_ == i && frame.cursor_row == i &&
        frame.cursor_column == width_of(frame.rows[i]))
      cursor_column_ = frame.cursor_column;
  }
  move(frame.cursor_row, frame.cursor_column);
  return std::exchange(output_, "");
}

std::string Screen::leave() {
  output_.clear();
  if (!rows_.empty()) move(rows_.size() - 1, cursor_column_);
  output_ += '\n';
  forget();
  return std::exchange(output_, "");
}

std::string Screen::erase(int columns, bool breaks_rows) {
  size_t rows_above = 0;
  for (size_t i = 0; i < cursor_row_ && i < rows_.size(); ++i)
    rows_above += breaks_rows ? row_count_for(width_of(rows_[i]), columns) : 1;
  if (breaks_rows && cursor_column_ > 0)
    rows_above += static_cast<size_t>(cursor_column_ / columns);
  forget();
  std::string out;
  append_move(out, rows_above, 'A');
  return out + "\r\x1b[J";
}

void Screen::forget() {
  rows_.clear();
  cursor_row_ = 0, cursor_column_ = 0;
}

}  // namespace crescent::editor

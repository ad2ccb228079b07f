#include "base/text_table.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace crescent {
namespace {

constexpr size_t kColumnGap = 2, kMinTextWidth = 8;

/// The length of a line with columns of these widths.
size_t line_length_of(const std::vector<size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kColumnGap * (widths.size() - 1));
}

}  // namespace

std::string with_commas(int64_t n) {
  std::string text = std::to_string(n);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) text.insert(i, ",");
  return text;
}

void TextTable::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = on_one_line(cell);
  rows_.push_back(std::move(cells));
}

/// The width in characters that the column needs so that no cell is cut.
size_t TextTable::uncut_width(size_t column) const {
  size_t width = columns_[column].title.size();
  for (const auto& row : rows_) width = std::max(width, character_count(row[column]));
  return width;
}

/// The width in characters down to which the column may be cut.
size_t TextTable::min_width(size_t column) const {
  const size_t width = uncut_width(column);
  return columns_[column].is_number ? width : std::min(width, kMinTextWidth);
}

/// Distributes the columns among tables of at most this line length; each table has the first
/// column and at least one other.
std::vector<TextTable::Columns> TextTable::column_groups(size_t line_length) const {
  std::vector<Columns> column_groups{{0}};
  size_t length = min_width(0);
  for (size_t c = 1; c < columns_.size(); ++c) {
    const size_t width = kColumnGap + min_width(c);
    if (column_groups.back().size() > 1 && length + width > line_length) {
      column_groups.push_back({0});
      length = min_width(0);
    }
    column_groups.back().push_back(c);
    length += width;
  }
  return column_groups;
}

/// The widths of these columns of one table. Columns of text become narrower as far as the line
/// length requires.
std::vector<size_t> TextTable::column_widths(const Columns& columns, size_t line_length) const {
  std::vector<size_t> column_widths;
  for (const size_t c : columns) column_widths.push_back(uncut_width(c));
  while (line_length_of(column_widths) > line_length) {
    size_t* widest_column = nullptr;
    for (size_t i = 0; i < columns.size(); ++i)
      if (!columns_[columns[i]].is_number && (!widest_column || column_widths[i] > *widest_column))
        widest_column = &column_widths[i];
    if (!widest_column || *widest_column <= kMinTextWidth) break;
    --*widest_column;
  }
  return column_widths;
}

/// Appends the lines of the table with these columns.
void TextTable::add_lines(std::vector<std::string>& lines, const Columns& columns,
                          size_t line_length) const {
  const std::vector<size_t> column_widths = this->column_widths(columns, line_length);
  auto line_of = [&](auto cell) {
    std::string line;
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string text = cut_or_padded(cell(columns[i]), column_widths[i]),
                        gap(i > 0 ? kColumnGap : 0, ' ');
      const size_t end =
          columns_[columns[i]].is_number ? text.find_last_not_of(' ') + 1 : text.size();
      line += gap + std::string(text.size() - end, ' ') + text.substr(0, end);
    }
    return line.substr(0, line.find_last_not_of(' ') + 1);
  };
  const size_t length = line_length_of(column_widths);
  const std::string horizontal_rule(length, '_'), double_horizontal_rule(length, '=');
  lines.insert(lines.end(), {horizontal_rule, line_of([&](size_t c) { return columns_[c].title; }),
                             double_horizontal_rule});
  for (const auto& row : rows_) lines.push_back(line_of([&](size_t c) { return row[c]; }));
  lines.push_back(double_horizontal_rule);
}

std::vector<std::string> TextTable::lines(size_t line_length) const {
  std::vector<std::string> lines;
  for (const Columns& columns : column_groups(line_length)) add_lines(lines, columns, line_length);
  return lines;
}

}  // namespace crescent

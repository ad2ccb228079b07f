// Tables of text with aligned columns.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace crescent {

/// Writes an integer with separators: "1,234,567".
std::string with_commas(int64_t n);

/// A table whose columns are as wide as their cells. Numbers are aligned to the right. Where a line
/// would be too long, the widest columns of text are cut; columns that still do not fit follow in
/// tables below, each of which begins with the first column again.
class TextTable {
 public:
  struct Column {
    std::string title;
    bool is_number = false;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells);
  /// Returns the lines of the table: the titles between horizontal rules, the rows, and a last
  /// rule.
  std::vector<std::string> lines(size_t line_length) const;

 private:
  using Columns = std::vector<size_t>;
  size_t uncut_width(size_t column) const;
  size_t min_width(size_t column) const;
  std::vector<Columns> column_groups(size_t line_length) const;
  std::vector<size_t> column_widths(const Columns& columns, size_t line_length) const;
  void add_lines(std::vector<std::string>& lines, const Columns& columns, size_t line_length) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace crescent

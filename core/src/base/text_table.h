// Tables of text with aligned columns.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace crescent {

/// Writes an integer with separators: "1,234,567".
std::string with_commas(int64_t n);

/// A table whose columns are as wide as their cells. Numbers are aligned to the right. Where a line
/// would be too long, the widest columns of text are cut.
class TextTable {
 public:
  struct Column {
    std::string title;
    bool number = false;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells);
  /// Returns the lines of the table: the titles between horizontal rules, the rows, and a last
  /// rule.
  std::vector<std::string> lines(size_t line_length) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace crescent

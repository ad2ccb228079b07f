// Text in columns, for people.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace crescent {

/// "1,234,567".
std::string with_commas(int64_t n);

/// Columns as wide as what they hold. Cells of numbers stand at the right; where a line would be
/// too long, the widest columns of text are cut.
class TextTable {
 public:
  struct Column {
    std::string title;
    bool number = false;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells);
  /// Titles between rules, rows, a rule.
  std::vector<std::string> lines(size_t line_length) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace crescent

#include "base/text_table.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace crescent {
namespace {

constexpr size_t kGap = 2, kNarrowest = 8;

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

std::vector<std::string> TextTable::lines(size_t line_length) const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(columns_[c].title.size());
    for (const auto& row : rows_) widths[c] = std::max(widths[c], characters_in(row[c]));
  }
  auto length = [&] {
    return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  };
  while (length() > line_length) {
    size_t* widest = nullptr;
    for (size_t c = 0; c < columns_.size(); ++c)
      if (!columns_[c].number && (!widest || widths[c] > *widest)) widest = &widths[c];
    if (!widest || *widest <= kNarrowest) break;
    --*widest;
  }

  auto line_of = [&](auto cell) {
    std::string line;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string text = fitted(cell(c), widths[c]), gap(c > 0 ? kGap : 0, ' ');
      const size_t end = columns_[c].number ? text.find_last_not_of(' ') + 1 : text.size();
      line += gap + std::string(text.size() - end, ' ') + text.substr(0, end);
    }
    return line.substr(0, line.find_last_not_of(' ') + 1);
  };
  const std::string rule(length(), '_'), double_rule(length(), '=');
  std::vector<std::string> lines{rule, line_of([&](size_t c) { return columns_[c].title; }),
                                 double_rule};
  for (const auto& row : rows_) lines.push_back(line_of([&](size_t c) { return row[c]; }));
  lines.push_back(double_rule);
  return lines;
}

}  // namespace crescent

#include "vocabulary_file.h"

#include <charconv>
#include <unordered_map>

#include "crescent/base/error.h"
#include "crescent/system/file.h"

namespace crescent {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t line_start = 0; line_start < text.size();) {
    const size_t line_end = std::min(text.find('\n', line_start), text.size());
    lines.push_back(text.substr(line_start, line_end - line_start));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    line_start = line_end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace

std::vector<std::string> read_vocabulary(const std::string& path, size_t special_token_count) {
  std::vector<std::string> lines = lines_of(read_file(path));
  std::unordered_map<std::string_view, size_t> line_numbers;
  for (size_t i = special_token_count; i < lines.size(); ++i)
    if (const auto [earlier_line, is_new] = line_numbers.emplace(lines[i], i + 1); !is_new)
      fail("'", path, "', line ", i + 1, ": the term '", lines[i], "' is in line ",
           earlier_line->second, " already");
  return lines;
}

std::vector<int64_t> read_integer_vocabulary(const std::string& path, size_t special_token_count) {
  std::vector<int64_t> numbers;
  for (const std::string& line : read_vocabulary(path, special_token_count)) {
    int64_t number = 0;
    const char* end = line.data() + line.size();
    if (const auto [parse_end, error] = std::from_chars(line.data(), end, number);
        error != std::errc() || parse_end != end)
      fail("'", path, "', line ", numbers.size() + 1, ": expected an integer, got '", line, "'");
    numbers.push_back(number);
  }
  return numbers;
}

void write_vocabulary(const std::string& path, const std::vector<std::string>& terms) {
  for (const std::string& term : terms)
    if (term.find('\n') != term.npos)
      fail("'", path, "': a file with a term in each line cannot hold one with a line break");
  replace_file(path, join(terms, "\n"));
}

}  // namespace crescent

// Reports of checks as tables.
#include <algorithm>

#include "crescent/model/check.h"
#include "crescent/system/terminal.h"

namespace crescent {
namespace {

const char* name_of(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::passed:
      return "ok";
    case CheckOutcome::failed:
      return "FAILED";
    case CheckOutcome::skipped:
      return "skipped";
  }
  return "";
}

std::string padded_text(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string summary_of(const CheckReport& report) {
  const auto count = [&](CheckOutcome outcome) {
    return std::count_if(report.results.begin(), report.results.end(),
                         [=](const CheckResult& result) { return result.outcome == outcome; });
  };
  return concat(report.subject, ": ", count(CheckOutcome::passed), " checks passed, ",
                count(CheckOutcome::failed), " failed, ", count(CheckOutcome::skipped), " skipped");
}

/// Appends the words of a text to `lines`, whose last line is `used_columns` columns long. A word
/// that would end beyond `columns` begins a line of its own after `indent` spaces; 0 columns are no
/// limit.
void append_words(std::string& lines, std::string_view text, size_t used_columns, size_t indent,
                  size_t columns) {
  for (bool is_first = true; !text.empty(); is_first = false) {
    const std::string_view word = text.substr(0, text.find(' '));
    const size_t width = display_width(word);
    if (columns > 0 && !is_first && used_columns + 1 + width > columns) {
      lines += concat("\n", std::string(indent, ' '));
      used_columns = indent;
    } else if (!is_first) {
      lines += ' ', ++used_columns;
    }
    lines += word, used_columns += width;
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  lines += '\n';
}

/// The narrowest column of texts beside the names of checks; in a narrower terminal, texts are
/// below the names.
constexpr size_t kMinTextColumns = 30;
constexpr size_t kIndent = 4;

}  // namespace

bool CheckReport::ok() const {
  return std::none_of(results.begin(), results.end(), [](const CheckResult& result) {
    return result.outcome == CheckOutcome::failed;
  });
}

std::string CheckReport::text() const {
  size_t width = 0;
  for (const CheckResult& result : results) width = std::max(width, result.name.size());
  const auto columns = static_cast<size_t>(terminal_columns());
  std::string text;
  append_words(text, summary_of(*this), 0, kIndent, columns);
  for (const CheckResult& result : results) {
    const std::string word = concat("  ", padded_text(name_of(result.outcome), 8));
    const std::string row_start = word + padded_text(result.name, width + 2);
    const bool is_beside = columns == 0 || row_start.size() + kMinTextColumns <= columns;
    text += is_beside ? row_start : concat(word, result.name, "\n", std::string(kIndent, ' '));
    const size_t indent = is_beside ? row_start.size() : kIndent;
    append_words(text, result.text, indent, indent, columns);
  }
  return text;
}

}  // namespace crescent

// Reports of checks as tables.
#include <algorithm>

#include "crescent/model/check.h"

namespace crescent {
namespace {

const char* word_of(CheckOutcome outcome) {
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

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string summary_of(const CheckReport& report) {
  const auto count = [&](CheckOutcome outcome) {
    return std::count_if(report.rows.begin(), report.rows.end(),
                         [=](const CheckRow& row) { return row.outcome == outcome; });
  };
  return concat(report.subject, ": ", count(CheckOutcome::passed), " checks passed, ",
                count(CheckOutcome::failed), " failed, ", count(CheckOutcome::skipped),
                " skipped\n");
}

}  // namespace

bool CheckReport::ok() const {
  return std::none_of(rows.begin(), rows.end(),
                      [](const CheckRow& row) { return row.outcome == CheckOutcome::failed; });
}

std::string CheckReport::text() const {
  size_t width = 0;
  for (const CheckRow& row : rows) width = std::max(width, row.name.size());
  std::string text = summary_of(*this);
  for (const CheckRow& row : rows)
    text +=
        concat("  ", padded(word_of(row.outcome), 8), padded(row.name, width + 2), row.text, "\n");
  return text;
}

}  // namespace crescent

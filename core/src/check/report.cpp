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
    return std::count_if(report.results.begin(), report.results.end(),
                         [=](const CheckResult& result) { return result.outcome == outcome; });
  };
  return concat(report.subject, ": ", count(CheckOutcome::passed), " checks passed, ",
                count(CheckOutcome::failed), " failed, ", count(CheckOutcome::skipped),
                " skipped\n");
}

}  // namespace

bool CheckReport::ok() const {
  return std::none_of(results.begin(), results.end(), [](const CheckResult& result) {
    return result.outcome == CheckOutcome::failed;
  });
}

std::string CheckReport::text() const {
  size_t width = 0;
  for (const CheckResult& result : results) width = std::max(width, result.name.size());
  std::string text = summary_of(*this);
  for (const CheckResult& result : results)
    text += concat("  ", padded(word_of(result.outcome), 8), padded(result.name, width + 2),
                   result.text, "\n");
  return text;
}

}  // namespace crescent

// Adds results to a report by running checks.
#pragma once
#include <functional>

#include "crescent/model/check.h"
#include "crescent/system/interrupt.h"

namespace crescent::check {

/// Thrown by a check that does not apply to the class under test.
struct SkippedCheck {
  std::string reason;
};

/// Thrown by a check that found a mistake. It is not derived from Error, to distinguish it from
/// errors raised by the code under test.
struct FoundMistake {
  std::string message;
};

template <class... Pieces>
[[noreturn]] void skip(const Pieces&... pieces) {
  throw SkippedCheck{concat(pieces...)};
}
template <class... Pieces>
[[noreturn]] void report_mistake(const Pieces&... pieces) {
  throw FoundMistake{concat(pieces...)};
}
template <class... Pieces>
void expect(bool holds, const Pieces&... pieces) {
  if (!holds) report_mistake(pieces...);
}

/// Whether the error was converted from an exception of another type, which the code under test
/// threw: "std::out_of_range: ... (in Scale of plugin ...)". Such an error is a mistake, not a
/// refusal.
inline bool is_of_exception(const Error& error) {
  return std::string_view(error.what()).find(" (in ") != std::string_view::npos;
}

/// Runs the check f, which returns a description of its result, and adds the result to the report,
/// unless the check is among the ExcludedChecks. Returns whether it ran and passed.
bool add_result(CheckReport& report, const std::string& name,
                const std::function<std::string()>& f);

}  // namespace crescent::check

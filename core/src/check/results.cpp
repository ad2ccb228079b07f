#include "check/results.h"

#include "check/isolation/progress.h"

namespace crescent::check {

void add_result(CheckReport& report, const std::string& name,
                const std::function<std::string()>& f) {
  announce(name);
  CheckResult result{name, CheckOutcome::passed, ""};
  try {
    result.text = f();
  } catch (const Interrupted&) {
    throw;
  } catch (const SkippedCheck& skipped) {
    result.outcome = CheckOutcome::skipped, result.text = skipped.reason;
  } catch (const FoundMistake& found) {
    result.outcome = CheckOutcome::failed, result.text = found.message;
  } catch (...) {
    result.outcome = CheckOutcome::failed, result.text = exception_text();
  }
  report.results.push_back(std::move(result));
}

}  // namespace crescent::check

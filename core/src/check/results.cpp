#include "check/results.h"

#include "check/isolation/progress.h"

namespace crescent::check {

bool add_result(CheckReport& report, const std::string& name,
                const std::function<std::string()>& f) {
  if (ExcludedChecks::contain(name)) return false;
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
  return report.results.back().outcome == CheckOutcome::passed;
}

}  // namespace crescent::check

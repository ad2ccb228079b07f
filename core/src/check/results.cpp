#include "check/rows.h"

namespace crescent::check {

void add_row(CheckReport& report, const std::string& name, const std::function<std::string()>& f) {
  CheckRow row{name, CheckOutcome::passed, ""};
  try {
    row.text = f();
  } catch (const Interrupted&) {
    throw;
  } catch (const Skipped& skipped) {
    row.outcome = CheckOutcome::skipped, row.text = skipped.why;
  } catch (const Found& found) {
    row.outcome = CheckOutcome::failed, row.text = found.what;
  } catch (...) {
    row.outcome = CheckOutcome::failed, row.text = exception_text();
  }
  report.rows.push_back(std::move(row));
}

}  // namespace crescent::check

// The functions with which the crescent program reports and stops runs of fit_async.
#pragma once
#include <string>
#include <vector>

namespace crescent::lua {

/// The errors of failed runs that have not been reported to the user.
std::vector<std::string> untold_errors_of_runs();
/// A text for each run that has begun another epoch or changed its state since the last call. Runs
/// that are over are removed from the list.
std::vector<std::string> news_of_runs();
/// Stops all runs, as the method run:stop() does.
void stop_runs();

}  // namespace crescent::lua

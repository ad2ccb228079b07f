// The functions by which the program reports and stops runs of fit_async.
#pragma once
#include <string>
#include <vector>

namespace crescent::lua {

/// The errors of failed runs that the user was not told yet.
std::vector<std::string> untold_errors_of_runs();
/// A text for each run that has begun another epoch or changed its state since the last call.
/// Forgets runs that are over.
std::vector<std::string> news_of_runs();
/// Stops all runs as run:stop() does.
void stop_runs();

}  // namespace crescent::lua

// What the program has to do with runs of fit_async.
#pragma once
#include <string>
#include <vector>

namespace crescent::lua {

/// The errors of runs that have ended by one and that nobody was told of yet.
std::vector<std::string> untold_errors_of_runs();
/// Where each run is that has begun another epoch, or another state, since the last call. Forgets
/// runs that are over.
std::vector<std::string> news_of_runs();
/// Stops all runs as run:stop() does.
void stop_runs();

}  // namespace crescent::lua

// The functions by which the program reports and stops runs of fit_async.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace crescent::lua {

/// The errors of failed runs that the user was not told yet.
std::vector<std::string> untold_errors_of_runs();
/// A text for each run, by its address, that has begun another epoch or changed its state since the
/// last call, as of its last batch. It may be called while the Lua state is unlocked.
std::vector<std::pair<const void*, std::string>> news_of_runs();
/// Sets what is called on another thread when a run has begun another epoch, ended or failed,
/// several times a second at most.
void set_news_listener(void (*listener)());
/// Notes where runs are, for their next news, and forgets those that are over and have none.
void refresh_runs();
/// Stops all runs as run:stop() does.
void stop_runs();

}  // namespace crescent::lua

// The functions with which the crescent program reports and stops runs of fit_async.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace crescent::lua {

/// The errors of failed runs that have not been reported to the user.
std::vector<std::string> untold_errors_of_runs();
/// The address of each run that has begun another epoch or changed its state since the last call,
/// with a text that tells its status as of the last batch. The function may be called while the Lua
/// state is unlocked.
std::vector<std::pair<const void*, std::string>> news_of_runs();
/// Sets a function that is called on another thread when a run has begun another epoch, ended or
/// failed, several times a second at most.
void set_news_listener(void (*listener)());
/// Notes the status of each run for its next news, and removes runs from the list that are over and
/// whose end has been reported.
void refresh_runs();
/// Stops all runs, as the method run:stop() does.
void stop_runs();

}  // namespace crescent::lua

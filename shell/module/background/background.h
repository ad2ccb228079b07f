// The functions with which the crescent program reports and stops runs of fit_async.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace crescent::lua {

/// The errors of failed runs that have not been reported to the user.
std::vector<std::string> unreported_errors_of_runs();
/// The runs that have begun another epoch or changed their state since the last call, each as its
/// address and a text with its status after the last batch. The function may be called while the
/// Lua state is unlocked.
std::vector<std::pair<const void*, std::string>> news_of_runs();
/// Sets a function that is called on another thread, several times a second at most, when a run has
/// begun another epoch, ended or failed.
void set_news_listener(void (*listener)());
/// Updates the status that news_of_runs() reports for each run, and removes from the list the runs
/// that are over and whose end has been reported.
void refresh_runs();
/// Stops all runs, as the method run:stop() does.
void stop_runs();

}  // namespace crescent::lua

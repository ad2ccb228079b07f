#include "background/background.h"

#include "background/async_run.h"
#include "background/computing_step.h"

namespace crescent::lua {

std::vector<std::string> unreported_errors_of_runs() {
  std::vector<std::string> errors;
  for (const AsyncRunPtr& run : async_runs())
    if (run->mark_error_reported() && !run->error().empty())
      errors.push_back(
          concat("fit_async: model '", run->run().model().name(), "': ", run->error()));
  return errors;
}

std::vector<std::pair<const void*, std::string>> news_of_runs() {
  std::vector<std::pair<const void*, std::string>> news;
  for (const AsyncRunPtr& run : async_runs()) {
    // A paused run still completes its batch, and only then is its position known.
    if (run->state() == AsyncRun::State::paused && is_computing(run->run().model())) continue;
    const bool is_reported = run->state() == AsyncRun::State::failed && !run->mark_error_reported();
    if (run->mark_position_reported() && !is_reported)
      news.emplace_back(run.get(), concat("fit_async: model '", run->run().model().name(),
                                          "': ", status_text(*run, run->cached_status())));
  }
  return news;
}

void set_news_listener(void (*listener)()) { set_run_listener(listener); }

void refresh_runs() {
  for (const AsyncRunPtr& run : async_runs()) {
    try {
      run->refresh();
    } catch (const Error&) {
      // ignores the error of a metric here: it is raised when the epoch ends
    }
  }
  std::erase_if(async_runs(),
                [](const AsyncRunPtr& run) { return run->is_over() && run->is_reported(); });
}

void stop_runs() {
  for (const AsyncRunPtr& run : std::vector(async_runs()))
    if (!run->is_over()) run->stop();
}

}  // namespace crescent::lua

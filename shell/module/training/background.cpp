#include "training/background.h"

#include "training/async_run.h"

namespace crescent::lua {

std::vector<std::string> untold_errors_of_runs() {
  std::vector<std::string> errors;
  for (const AsyncRunPtr& run : async_runs())
    if (run->tell_error() && !run->error().empty())
      errors.push_back(
          concat("fit_async: model '", run->run().model().name(), "': ", run->error()));
  return errors;
}

std::vector<std::string> news_of_runs() {
  std::vector<std::string> news;
  for (const AsyncRunPtr& run : async_runs())
    if (run->tell_place() && run->state() != AsyncRun::State::failed)
      news.push_back(
          concat("fit_async: model '", run->run().model().name(), "': ", status_text(*run)));
  std::erase_if(async_runs(), [](const AsyncRunPtr& run) { return run->is_over(); });
  return news;
}

void stop_runs() {
  for (const AsyncRunPtr& run : std::vector(async_runs()))
    if (!run->is_over()) run->stop();
}

}  // namespace crescent::lua

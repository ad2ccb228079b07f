// The files of this plugin; each adds its classes.
#pragma once
#include <chrono>

#include "crescent/model/callback.h"

namespace crescent {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void add_stopping(Registry& registry);
void add_checkpoint(Registry& registry);
void add_backup(Registry& registry);
void add_progress(Registry& registry);
void add_schedulers(Registry& registry);
void add_csv_logger(Registry& registry);
void add_remote_monitor(Registry& registry);
void add_tensorboard(Registry& registry);
void add_averages(Registry& registry);
void add_callback_list(Registry& registry);
}  // namespace crescent

#include "callbacks.h"

#include "crescent/plugin.h"

CRESCENT_PLUGIN("callbacks", CRESCENT_VERSION) {
  crescent::add_stopping(registry);
  crescent::add_checkpoint(registry);
  crescent::add_backup(registry);
  crescent::add_progress(registry);
  crescent::add_schedulers(registry);
  crescent::add_csv_logger(registry);
  crescent::add_remote_monitor(registry);
  crescent::add_tensorboard(registry);
  crescent::add_averages(registry);
  crescent::add_callback_list(registry);
}

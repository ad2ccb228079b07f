#include "mean_metrics.h"

#include "crescent/plugin.h"

CRESCENT_PLUGIN("metrics", CRESCENT_VERSION) {
  crescent::add_mean_metrics(registry);
  crescent::add_accuracies(registry);
}

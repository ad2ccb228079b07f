#include "mean_metrics.h"

CRESCENT_PLUGIN("metrics", CRESCENT_VERSION) {
  crescent::add_mean_metrics(registry);
  crescent::add_accuracies(registry);
}

#include "metrics.h"

#include "crescent/plugin.h"

CRESCENT_PLUGIN("metrics", CRESCENT_VERSION) {
  crescent::add_mean_metrics(registry);
  crescent::add_accuracies(registry);
  crescent::add_counts(registry);
  crescent::add_best_at(registry);
  crescent::add_auc(registry);
  crescent::add_iou(registry);
  crescent::add_f_scores(registry);
  crescent::add_regression(registry);
}

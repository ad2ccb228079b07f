// What the files of this plugin share; each adds its classes.
#pragma once
#include "crescent/training.h"

namespace crescent {

/// The options of every metric, at the place that Keras has them: `name` and `dtype`.
template <class T, class Name, class Dtype>
void describe_name(Schema<T>& s, Name name, Dtype dtype) {
  s.field("name", name, "Shown in logs.").field("dtype", dtype, "Of the state.");
}

void add_mean_metrics(Registry& registry);
void add_accuracies(Registry& registry);
void add_counts(Registry& registry);
void add_best_at(Registry& registry);
void add_auc(Registry& registry);
void add_iou(Registry& registry);
void add_f_scores(Registry& registry);
void add_regression(Registry& registry);

}  // namespace crescent

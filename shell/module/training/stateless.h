// Stateless methods of models, metrics and optimizers: functions of the values of variables.
#pragma once
#include "classes/object_types.h"
#include "crescent/layer/stateless.h"

namespace crescent::lua {

/// Adds stateless_compute_loss to the type of models.
void add_stateless_compute_loss(HandleType& model);
/// Adds the stateless methods to the type of metrics.
void add_stateless_methods_of_metrics(HandleType& metric);
/// Adds the stateless methods to the type of optimizers.
void add_stateless_methods_of_optimizers(HandleType& optimizer);

}  // namespace crescent::lua

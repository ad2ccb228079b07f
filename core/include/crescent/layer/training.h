// Base classes of activations, initializers, losses, metrics, optimizers and schedules, with one
// header for each. Each base class is a kind in the registry; plugins derive from it and describe
// their options (schema.h). All arithmetic uses ops and is therefore traced into the compiled step.
#pragma once
#include <string>
#include <string_view>

#include "crescent/layer/activation.h"
#include "crescent/layer/loss.h"
#include "crescent/layer/metric.h"
#include "crescent/layer/optimizer.h"
#include "crescent/layer/schedule.h"
#include "crescent/layer/weight_rules.h"
#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"

namespace crescent {

/// Converts a class name to lower snake case as Keras does: "Conv2D" -> "conv2d", "ReLU" ->
/// "re_lu", "LSTM" -> "lstm".
CRESCENT_API std::string to_snake_case(std::string_view class_name);

}  // namespace crescent

// What an optimizer needs to go on as if nothing had happened.
#pragma once
#include <string>

#include "crescent/model.h"
#include "keras/weights/entry.h"
#include "keras/weights/match.h"
#include "keras/weights/weight_source.h"

namespace crescent::keras {

/// `target`: "keras3" (per variable its slots) or "keras2" (per slot the variables).
void write_optimizer(Entries& entries, const Optimizer& optimizer, const std::string& target);
/// State of an optimizer that has been built for the model's trainable variables. None, with Keras'
/// warning, when it does not fit.
Matches match_optimizer(WeightSource& file, const Optimizer& optimizer);

}  // namespace crescent::keras

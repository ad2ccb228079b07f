// What is needed to go on training as if nothing had happened: the optimizer's state, random
// generators, the order of samples, the epoch. Keras reads the optimizer's part and ignores the
// rest.
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

void write_random_state(Entries& entries, Model& model);
/// Nothing to do for a file of Keras.
Matches match_random_state(WeightSource& file, Model& model);

}  // namespace crescent::keras

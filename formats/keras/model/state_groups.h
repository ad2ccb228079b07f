// What a model carries from batch to batch beside its weights: random generators, the order of
// samples, the states of stateful layers. Keras ignores it.
#pragma once
#include "crescent/model/model.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

void write_state_groups(Entries& entries, Model& model);
/// Nothing to do for a file of Keras. What is another model's is left, with a warning.
Matches match_state_groups(WeightSource& file, Model& model);

}  // namespace crescent::keras

// The state that a model keeps between batches in addition to its weights: random generators, the
// order of samples, and the states of stateful layers. Keras ignores this state in files.
#pragma once
#include "crescent/model/model.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

void write_state_groups(Entries& entries, Model& model);
/// Matches the state in a file with that of the model; a file of Keras has none. State that does
/// not fit the model is skipped with a warning.
Matches match_state_groups(WeightSource& file, Model& model);

}  // namespace crescent::keras

// The layout of Keras 3's .weights.h5: a place for every object, by class and number, its variables
// by position.
#pragma once
#include "keras/weights/entry.h"
#include "keras/weights/match.h"
#include "keras/weights/weight_source.h"

namespace crescent::keras {

void write_keras3_weights(Entries& entries, Model& model);
bool has_keras3_weights(WeightSource& file);
Matches match_keras3_weights(WeightSource& file, Model& model);

}  // namespace crescent::keras

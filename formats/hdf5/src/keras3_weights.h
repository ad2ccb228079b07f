// The layout of Keras 3's .weights.h5: a place for every object, by class and number, its variables
// by position.
#pragma once
#include "weights.h"

namespace crescent::hdf5 {

void write_keras3_weights(Tree& tree, Model& model);
bool has_keras3_weights(FileReader& file);
Matches match_keras3_weights(FileReader& file, Model& model);

}  // namespace crescent::hdf5

// The names of the weights of a layer in HDF5 files of Keras.
#pragma once
#include <string>
#include <vector>

#include "crescent/model/model.h"

namespace crescent::keras {

/// A distinct name for each of the `weights` of a layer (or model): "lstm/lstm_cell/kernel:0", or
/// "lstm/kernel:0" for the target generation "keras2".
std::vector<std::string> weight_names(const Layer& layer, const Variables& weights,
                                      const std::string& target_generation);

}  // namespace crescent::keras

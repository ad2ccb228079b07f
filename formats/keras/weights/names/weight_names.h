// The names of the weights of a layer in HDF5 files of Keras.
#pragma once
#include <string>
#include <vector>

#include "crescent/model/model.h"

namespace crescent::keras {

/// A name for each of `weights` of a layer (or model): "lstm/lstm_cell/kernel:0", and for
/// target="keras2" "lstm/kernel:0". They are distinct.
std::vector<std::string> weight_names(const Layer& layer, const Variables& weights,
                                      const std::string& target);

}  // namespace crescent::keras

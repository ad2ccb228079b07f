// Converts weights of CuDNNLSTM and CuDNNGRU (Keras 2 on a GPU) to those of LSTM and GRU: their
// kernels are transposed per gate, and there are two biases. The shape of the bias tells the layout
// of a file.
#pragma once
#include "keras/source/match.h"

namespace crescent::keras {

/// Sets the conversions of matches that need one. `saved` has the specs of the file, and afterwards
/// those of the converted weights.
void convert_cudnn(Matches& matches, std::vector<TensorSpec>& saved);

}  // namespace crescent::keras

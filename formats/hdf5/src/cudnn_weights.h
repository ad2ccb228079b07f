// Weights of CuDNNLSTM and CuDNNGRU (Keras 2 on a GPU) as LSTM and GRU have them: every gate's
// kernels are transposed, and there are two biases. Which layout a file has shows in the shape of
// its bias.
#pragma once
#include "weights.h"

namespace crescent::hdf5 {

/// Sets the conversions of the matches that need one. `saved` are the shapes in the file;
/// afterwards those that the converted weights will have.
void convert_cudnn(Matches& matches, std::vector<Shape>& saved);

}  // namespace crescent::hdf5

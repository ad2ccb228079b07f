// Weights of CuDNNLSTM and CuDNNGRU (Keras 2 on a GPU) as LSTM and GRU have them: every gate's
// kernels are transposed, and there are two biases. Which layout a file has shows in the shape of
// its bias.
#pragma once
#include "keras/source/match.h"

namespace crescent::keras {

/// Sets the conversions of the matches that need one. `saved` is what the file has; afterwards it
/// has the shapes of the converted weights.
void convert_cudnn(Matches& matches, std::vector<TensorSpec>& saved);

}  // namespace crescent::keras

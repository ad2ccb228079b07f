// Converts weights of CuDNNLSTM and CuDNNGRU (Keras 2 on a GPU) to those of LSTM and GRU: cuDNN
// transposes the kernels per gate and has two biases. The shape of the bias shows which layout a
// file has.
#pragma once
#include "keras/source/match.h"

namespace crescent::keras {

/// Sets the conversions of those matches that need one. `saved_specs` has the specs of the datasets
/// in the file; it is changed to the specs after conversion.
void convert_cudnn(Matches& matches, std::vector<TensorSpec>& saved_specs);

}  // namespace crescent::keras

// CTC beam search: the most likely label sequences.
#pragma once
#include <utility>

#include "crescent/tensor/tensor.h"

namespace crescent {

struct BeamSearch {
  int64_t width = 100;  ///< the number of prefixes kept at each time step
  int64_t paths = 1;    ///< the number of sequences returned
  int64_t blank = 0;    ///< the class of the blank
};

/// logs (batch, time, classes): log probabilities; lengths (batch): valid time steps. Returns
/// labels (paths, batch, time), filled with -1, the most likely first, and their log probabilities
/// (batch, paths).
std::pair<Tensor, Tensor> beam_searched(const Tensor& logs, const Tensor& lengths,
                                        const BeamSearch& options);

}  // namespace crescent

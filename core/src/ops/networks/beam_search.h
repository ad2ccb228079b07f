// CTC beam search: the most likely label sequences, found by keeping the best prefixes at each time
// step.
#pragma once
#include <utility>

#include "crescent/tensor/tensor.h"

namespace crescent {

struct BeamSearch {
  int64_t width = 100;  ///< how many prefixes are kept
  int64_t paths = 1;    ///< how many sequences are returned
  int64_t blank = 0;    ///< the class of the blank
};

/// logs (batch, time, classes): log-probabilities; lengths (batch): valid time steps. Returns
/// labels (paths, batch, time), padded with -1, most likely first, and their log-probabilities
/// (batch, paths).
std::pair<Tensor, Tensor> beam_searched(const Tensor& logs, const Tensor& lengths,
                                        const BeamSearch& search);

}  // namespace crescent

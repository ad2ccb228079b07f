// The likeliest sequences of labels, by a search that keeps some beginnings at every moment.
#pragma once
#include <utility>

#include "crescent/tensor/tensor.h"

namespace crescent {

struct BeamSearch {
  int64_t width = 100;  ///< how many beginnings are kept
  int64_t paths = 1;    ///< how many sequences are wanted
  int64_t blank = 0;    ///< the class that is no label
};

/// logs (batch, time, classes): logarithms of probabilities; lengths (batch): moments that count.
/// Labels (paths, batch, time), filled with -1, the likeliest first, and the logarithms of their
/// probabilities (batch, paths).
std::pair<Tensor, Tensor> beam_searched(const Tensor& logs, const Tensor& lengths,
                                        const BeamSearch& search);

}  // namespace crescent

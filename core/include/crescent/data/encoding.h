// Raw numbers as tensors that models take: classes, sequences, rows of one length.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// Class numbers of any shape, (..., 1) as (...), as float32 rows (..., num_classes) with a 1 at
/// the class. num_classes is the largest number and one unless given. Fails for numbers that are
/// not one of 0..num_classes-1, and for no numbers without num_classes. Keras'
/// utils.to_categorical.
CRESCENT_API Tensor to_categorical(const Tensor& y, std::optional<int64_t> num_classes = {});

/// x divided by its norm of an order along an axis; what has the norm 0 stays. Keras'
/// utils.normalize.
CRESCENT_API Tensor normalize(const Tensor& x, int axis = -1, double order = 2);

/// Sequences of different lengths as rows of one tensor (sequences, maxlen), where maxlen is the
/// longest length unless given. Sequences are padded by `value` and truncated in front ("pre") or
/// behind ("post"); fails for other words and a negative maxlen. Keras' utils.pad_sequences.
CRESCENT_API Tensor pad_sequences(std::span<const std::vector<double>> sequences,
                                  std::optional<int64_t> maxlen = {}, DType dtype = DType::int32,
                                  const std::string& padding = "pre",
                                  const std::string& truncating = "pre", double value = 0);

}  // namespace crescent

// Converts class numbers to one-hot rows, scales vectors to norm 1, and pads sequences to one
// length.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// Converts class numbers of any shape, where (..., 1) counts as (...), to one-hot float32 rows
/// (..., num_classes), as Keras' utils.to_categorical does. num_classes defaults to the largest
/// number plus one. Fails for numbers outside of 0..num_classes-1, and for an empty tensor without
/// num_classes.
CRESCENT_API Tensor to_categorical(const Tensor& y, std::optional<int64_t> num_classes = {});

/// Divides x by its norm of this order along an axis, as Keras' utils.normalize does; vectors of
/// norm 0 are unchanged.
CRESCENT_API Tensor normalize(const Tensor& x, int axis = -1, double order = 2);

/// Puts sequences of different lengths into the rows of one tensor (sequences, maxlen), as Keras'
/// utils.pad_sequences does; maxlen defaults to the longest length. Sequences are padded with
/// `value` and truncated at the start ("pre") or the end ("post"); fails for other words and a
/// negative maxlen.
CRESCENT_API Tensor pad_sequences(std::span<const std::vector<double>> sequences,
                                  std::optional<int64_t> maxlen = {}, DType dtype = DType::int32,
                                  const std::string& padding = "pre",
                                  const std::string& truncating = "pre", double value = 0);

}  // namespace crescent

// Python pickles of plain objects: numbers, texts, lists, dictionaries, NumPy arrays. A pickle is a
// program that may call any function; this reader calls none: it knows the few names that pickles
// of arrays contain and refuses all others.
#pragma once
#include <string>
#include <string_view>

#include "crescent/base/value.h"
#include "crescent/tensor/tensor.h"

namespace crescent::arrays {

/// The value of a pickle: bytes become texts, tuples become lists, arrays become boxed tensors, and
/// arrays of objects become lists. `path` is for messages.
Value read_pickle(const std::string& path, std::string_view bytes);

/// A list of lists of integers: the numbers of all inner lists one after another, and the length of
/// each inner list.
struct Ragged {
  Tensor values, lengths;
};
Ragged read_ragged_pickle(const std::string& path, std::string_view bytes);

}  // namespace crescent::arrays

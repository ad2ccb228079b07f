// Python's pickles of plain things: numbers, texts, lists, dictionaries, NumPy's arrays. A pickle
// is a program that may call anything; this reader calls nothing: it knows the few names that
// arrays are written with and refuses all others.
#pragma once
#include <string>
#include <string_view>

#include "crescent/base/value.h"
#include "crescent/tensor/tensor.h"

namespace crescent::arrays {

/// What it describes; bytes are texts, tuples are lists, arrays are boxed tensors, arrays of
/// objects are lists. `path` is for messages.
Value read_pickle(const std::string& path, std::string_view bytes);

/// Lists of whole numbers: all of them in a row, and how many are in each list.
struct Ragged {
  Tensor values, lengths;
};
Ragged read_ragged_pickle(const std::string& path, std::string_view bytes);

}  // namespace crescent::arrays

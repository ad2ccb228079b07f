// Batches of elements whose first parts are not of one length.
#pragma once
#include "crescent/data/stream.h"

namespace crescent::lua {

/// As batch(), where the tensors that come first in elements are filled up with zeros, along their
/// first axis, to the longest of the batch.
StreamPtr padded_batch(StreamPtr source, int64_t size);

}  // namespace crescent::lua

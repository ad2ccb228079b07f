// Passes the data of adapt() to a layer, as a whole or batch by batch.
#pragma once
#include <functional>
#include <optional>

#include "crescent/data/data.h"
#include "crescent/ops/ops.h"

namespace crescent {

/// Whether the data is one array: a tensor, or nested lists that contain no tensor.
bool is_array(const Value& data);

/// Calls `learn` with at most `steps` batches: the items of a list of tensors, or the inputs of the
/// batches of a dataset. An array is one batch.
void each_batch(const Value& data, std::optional<int64_t> steps,
                const std::function<void(const Value& batch)>& learn);

}  // namespace crescent

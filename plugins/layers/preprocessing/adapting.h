// What layers learn from with adapt(): data at once, or batch by batch.
#pragma once
#include <functional>
#include <optional>

#include "crescent/data/data.h"
#include "crescent/ops/ops.h"

namespace crescent {

/// True for what is one array: a tensor, or lists that hold no tensors.
bool is_array(const Value& data);

/// Calls `learn` with each batch, at most `steps` of them: the elements of a list of tensors, or
/// the inputs of a dataset's batches. An array is the only batch.
void each_batch(const Value& data, std::optional<int64_t> steps,
                const std::function<void(const Value& batch)>& learn);

}  // namespace crescent

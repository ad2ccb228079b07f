// Finds the op in a training step that computes the first number that is not finite.
#pragma once
#include <string>
#include <vector>

#include "crescent/data/data.h"
#include "crescent/model/model.h"

namespace crescent {

/// Runs the training step on the batch again, op by op, and describes where the first number that
/// is not finite originates. `rows` are the indices of the batch's rows in the data; empty:
/// unknown.
std::string locate_nan(Model& model, const Batch& batch, const std::vector<int64_t>& rows);

}  // namespace crescent

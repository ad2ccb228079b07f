// The parts of elements: stacking them into batches, splitting them into rows, and converting them
// to tensors for models.
#pragma once
#include "crescent/data/stream.h"

namespace crescent {

/// Whether the part is a tensor or counts as one: a number, a boolean, a text, or a list of values
/// of one of these kinds.
bool is_tensor_like(const Value& part);
Tensor tensor_of(const Value& part);
/// The parts of a batch: x and, if present, y and sample_weight.
Element element_of(const Batch& batch);

/// Stacks `parts`, which are the same part of several elements, along a new first axis. Fails if
/// one of them has another shape or dtype than the others; the message counts elements from
/// `first_number`.
Value stacked(const std::vector<Value>& parts, int64_t first_number);
/// Stacks each part of the elements along a new first axis.
Element stacked(const std::vector<Element>& elements, int64_t first_number);

/// The number of rows of a part; fails if its arrays have different numbers of rows.
int64_t rows_of(const Value& part);
int64_t rows_of(const Element& parts);
Element row_of(const Element& parts, int64_t row);
/// The rows of a part with these indices, stacked along a new first axis. If the part is a tensor,
/// only the rows `rows_to_read` of the result are read, and the others are zeros.
Value rows_at(const Value& part, std::span<const int64_t> row_indices,
              const RowRange& rows_to_read);

/// The tensors of a part. Those of a dictionary are in the order of `names` or, if `names` is
/// empty, in the order of the dictionary.
Tensors tensors_of(const Value& part, const std::vector<std::string>& names);
/// Prepares a part that has the inputs of a model. A dictionary that has all `names` is returned
/// without its other entries, with a warning once for each of these. Other parts are returned
/// unchanged.
Value expected_inputs(const Value& part, const std::vector<std::string>& names);

}  // namespace crescent

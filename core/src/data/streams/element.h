// What elements are made of: parts that are stacked to batches, cut into rows, and turned into what
// models take.
#pragma once
#include "crescent/data/stream.h"

namespace crescent {

/// Numbers, truth values, texts, and lists of one kind of them count as tensors.
bool is_tensor_like(const Value& part);
Tensor tensor_of(const Value& part);

/// Parts of several elements as one part with a first axis more. Fails naming the element, counted
/// from `first`, that differs from those before it.
Value stacked(const std::vector<Value>& parts, int64_t first);
/// The elements' parts stacked.
Element stacked(const std::vector<Element>& elements, int64_t first);

/// How many rows a part has; fails where its arrays differ.
int64_t rows_of(const Value& part);
int64_t rows_of(const Element& parts);
Element row_of(const Element& parts, int64_t row);

/// The tensors of a part; those of a dictionary in the order of `names`, or as they come.
Tensors tensors_of(const Value& part, const std::vector<std::string>& names);

}  // namespace crescent

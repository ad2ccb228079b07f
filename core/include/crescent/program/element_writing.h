// In-place writes to elements of a tensor. Ops, tapes and programs assume that the values of
// tensors do not change, so a write is refused for a tensor that a trace or a recording tape, a
// variable or a compiled program relies on.
#pragma once
#include <span>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// Whether the tensor is abstract or watched by a gradient tape of this thread. Elements of such a
/// tensor must be read by ops, which are recorded.
CRESCENT_API bool is_followed(const Tensor& tensor);

/// Fails if elements of the tensor cannot be written now, with the reason as message.
CRESCENT_API void expect_writable(const Tensor& tensor);

/// Writes `values`, of the tensor's dtype, into runs of `run` consecutive elements, which begin at
/// `starts`. Tensors that share the memory see the new values.
CRESCENT_API void write_elements(const Tensor& tensor, std::span<const int64_t> starts, int64_t run,
                                 const Tensor& values);

}  // namespace crescent

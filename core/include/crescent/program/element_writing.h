// Writing elements into a tensor that exists. Tensors are values for ops, tapes and programs, so a
// write is refused where somebody counts on the values: a trace or a tape that is recording, a
// variable, a compiled program.
#pragma once
#include <span>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// Whether an abstract tensor, or one that a tape of this thread follows: what is read of it must
/// go through ops.
CRESCENT_API bool is_followed(const Tensor& tensor);

/// Fails with the reason why elements of the tensor cannot be written now.
CRESCENT_API void expect_writable(const Tensor& tensor);

/// Writes `values`, of the tensor's dtype, into runs of `run` consecutive elements, which begin at
/// `starts`. Tensors that share the memory see the new values.
CRESCENT_API void write_elements(const Tensor& tensor, std::span<const int64_t> starts, int64_t run,
                                 const Tensor& values);

}  // namespace crescent

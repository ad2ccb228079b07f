// Copies of elements that t[{ {1, 2}, {1, 2} }] reads where the elements are not contiguous. To Lua
// code they are views as those of contiguous elements are: what is assigned to elements of the copy
// is written to the tensor that it was read from as well.
#pragma once
#include "crescent/tensor/tensor.h"
#include "tensors/selectors.h"

namespace crescent::lua {

/// Records that the storage of `copy` consists of the elements of `source` that positions and
/// ranges select. Neither of the two is kept alive.
void record_copy(const Tensor& copy, const Tensor& source, const Selectors& selectors);

/// If `tensor` shares the storage of a recorded copy, reads the elements of the copy from its
/// source again.
void refresh_copy(const Tensor& tensor);
/// If `tensor` shares the storage of a recorded copy, writes the elements of the copy to its
/// source. Fails if they cannot be written there.
void write_copy_back(const Tensor& tensor);

}  // namespace crescent::lua

// Copies of elements that t[{ {1, 2}, {1, 2} }] reads where the elements are not contiguous. To Lua
// code they are views as those of contiguous elements are: what is assigned to elements of the copy
// is written to the tensor that it was read from as well.
#pragma once
#include <optional>

#include "crescent/tensor/tensor.h"
#include "tensors/selectors.h"

namespace crescent::lua {

/// Records that the storage of `copy` consists of the elements of `source` that positions and
/// ranges select. Neither of the two is kept alive.
void record_copy(const Tensor& copy, const Tensor& source, const Selectors& selectors);

/// A recorded copy, the tensor that it was read from, and what selected its elements.
struct SelectedCopy {
  Tensor copy, source;
  Selectors selectors;
};
/// The recorded copy whose storage `tensor` shares, if its source still exists.
std::optional<SelectedCopy> selected_copy(const Tensor& tensor);

}  // namespace crescent::lua

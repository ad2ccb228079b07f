// The arithmetic of a model: the floating-point operations of a forward pass with one sample,
// counted from the ops that it records. A multiply-add counts as two operations, an elementwise
// function as one per element.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

/// The floating-point operations of all layers together; fails if a size of an input other than the
/// number of samples is unknown.
CRESCENT_API double flops_of(const Model& model);

}  // namespace crescent

// The arithmetic of a model: the floating-point operations of a forward pass with one sample,
// counted from the ops that it records. A multiply-add counts as two operations, an elementwise
// function as one per element.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

/// The sum over all layers; fails where a size of an input is unknown.
CRESCENT_API double flops_of(const Model& model);

}  // namespace crescent

// The arithmetic of a model: the floating-point operations of a forward pass with one sample, by
// the ops that it records. A multiplication and an addition are two, an elementwise function is one
// an element.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

/// The sum over all layers; fails where a size of an input is unknown.
CRESCENT_API double flops_of(const Model& model);

}  // namespace crescent

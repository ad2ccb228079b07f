// Functions that are several ops, run at once as one program.
#pragma once
#include <functional>
#include <initializer_list>

#include "crescent/op.h"

namespace crescent {

/// body(inputs). Where the inputs are large and their values are there, and nobody records, the ops
/// are compiled together, once for the specs: what is in between stays in the cache. `name` (of
/// static life) and `numbers` say all that the body depends on beside the inputs.
Tensor together(const char* name, std::initializer_list<double> numbers, const Tensors& inputs,
                const std::function<Tensor(const Tensors&)>& body);

}  // namespace crescent

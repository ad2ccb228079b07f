// Functions that are several ops, run at once as one program.
#pragma once
#include <functional>
#include <initializer_list>

#include "crescent/base/value.h"
#include "crescent/program/op.h"

namespace crescent {

/// call(arguments); tensors are boxed, in the arguments and in what it gives. Where some are large,
/// the values of all are there, and nobody records, its ops are compiled together, once for `who`,
/// the specs and the other arguments, which say all that it depends on: what is in between stays in
/// the cache. What is a single op, or does more than compute, or cannot be recorded, is called.
Value run_compiled(const std::shared_ptr<const void>& who, const Dict& arguments,
                   const std::function<Value(const Dict&)>& call);

/// body(inputs), the same way. `name` (of static life) and `numbers` say all that the body depends
/// on beside the inputs.
Tensor run_compiled(const char* name, std::initializer_list<double> numbers, const Tensors& inputs,
                    const std::function<Tensor(const Tensors&)>& body);

}  // namespace crescent

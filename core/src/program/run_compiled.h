// Runs functions of several ops on large tensors as one compiled program.
#pragma once
#include <functional>
#include <initializer_list>

#include "crescent/base/value.h"
#include "crescent/program/op.h"

namespace crescent {

/// Returns call(arguments); tensors in arguments and results are boxed. When some tensors are
/// large, all tensors have values, and no trace or tape is recording, the ops of the call are
/// compiled into one program, so that intermediate values stay in the cache of the processor. The
/// key of the program is `function_id`, the specs of the tensors, and the other arguments, so the
/// call must depend on nothing else. Calls that consist of a single op, have effects or cannot be
/// traced run directly.
Value run_compiled(const std::shared_ptr<const void>& function_id, const Dict& arguments,
                   const std::function<Value(const Dict&)>& call);

/// Returns body(inputs), compiled as by the overload above. The body may depend on `name`, which
/// must be a string literal, on `numbers` and on the inputs alone.
Tensor run_compiled(const char* name, std::initializer_list<double> numbers, const Tensors& inputs,
                    const std::function<Tensor(const Tensors&)>& body);

}  // namespace crescent

#include "layer/calls/call_frame.h"

#include "crescent/base/error.h"

namespace crescent {
namespace {

// The largest depth of nested layer calls. The stack of a thread has room for several times this
// depth.
constexpr int kMaxCallDepth = 1000;
thread_local const CallFrame* innermost_call = nullptr;

}  // namespace

CallFrame::CallFrame(const Tensors& inputs, std::optional<bool> training, bool default_training)
    : inputs_(inputs),
      enclosing_call_(innermost_call),
      depth_(innermost_call ? innermost_call->depth_ + 1 : 1),
      training_(training.value_or(innermost_call ? innermost_call->training_ : default_training)) {
  if (depth_ > kMaxCallDepth)
    fail("calls of layers are ", kMaxCallDepth, " deep: does a layer call itself?");
  innermost_call = this;
}

const Tensors* CallFrame::current_inputs() {
  return innermost_call ? &innermost_call->inputs_ : nullptr;
}

CallFrame::~CallFrame() { innermost_call = enclosing_call_; }

}  // namespace crescent

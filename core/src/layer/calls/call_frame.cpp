#include "layer/calls/call_frame.h"

#include "crescent/base/error.h"

namespace crescent {
namespace {

// the limit of nested layer calls; the stack has room for several times as many calls
constexpr int kMaxCallDepth = 1000;
thread_local const CallFrame* innermost = nullptr;

}  // namespace

CallFrame::CallFrame(const Tensors& inputs, std::optional<bool> training, bool by_itself)
    : inputs_(inputs),
      outer_(innermost),
      depth_(innermost ? innermost->depth_ + 1 : 1),
      training_(training.value_or(innermost ? innermost->training_ : by_itself)) {
  if (depth_ > kMaxCallDepth)
    fail("calls of layers are ", kMaxCallDepth, " deep: does a layer call itself?");
  innermost = this;
}

const Tensors* CallFrame::current_inputs() { return innermost ? &innermost->inputs_ : nullptr; }

CallFrame::~CallFrame() { innermost = outer_; }

}  // namespace crescent

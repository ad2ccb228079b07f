#include "layer/call_frame.h"

namespace crescent {
namespace {

thread_local const CallFrame* innermost = nullptr;

}  // namespace

CallFrame::CallFrame(std::optional<bool> training, bool by_itself)
    : outer_(innermost),
      training_(training.value_or(innermost ? innermost->training_ : by_itself)) {
  innermost = this;
}

CallFrame::~CallFrame() { innermost = outer_; }

}  // namespace crescent

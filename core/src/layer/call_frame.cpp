#include "layer/call_frame.h"

namespace crescent {
namespace {

thread_local const CallFrame* innermost = nullptr;

}  // namespace

CallFrame::CallFrame(std::optional<bool> training)
    : outer_(innermost), training_(training.value_or(innermost ? innermost->training_ : false)) {
  innermost = this;
}

CallFrame::~CallFrame() { innermost = outer_; }

}  // namespace crescent

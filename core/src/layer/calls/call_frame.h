// The stack of nested layer calls of each thread.
#pragma once
#include <optional>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// A running call of a layer: its inputs, the call that encloses it, and whether it runs in
/// training mode. The mode is `training` if it is given, otherwise the mode of the enclosing call.
/// Without an enclosing call, it is `default_training`.
class CallFrame {
 public:
  CallFrame(const Tensors& inputs, std::optional<bool> training, bool default_training);
  ~CallFrame();
  CallFrame(const CallFrame&) = delete;
  bool is_outermost() const { return enclosing_call_ == nullptr; }
  bool training() const { return training_; }
  /// The inputs of the innermost call of this thread; null outside of calls.
  static const Tensors* current_inputs();

 private:
  const Tensors& inputs_;
  const CallFrame* enclosing_call_;
  int depth_;
  bool training_;
};

}  // namespace crescent

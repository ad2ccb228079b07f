// The stack of nested layer calls of each thread.
#pragma once
#include <optional>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// One running call of a layer: its inputs, whether other calls enclose it, and whether it trains.
/// A call trains if `training` is true. If `training` is not given, it trains if the enclosing call
/// trains; without an enclosing call, it trains if `default_training` is true.
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

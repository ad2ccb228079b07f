// The stack of nested layer calls of each thread.
#pragma once
#include <optional>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// One running call of a layer: its inputs, its depth, and whether it trains (by its own option,
/// else as the enclosing call does, else as `by_itself` says).
class CallFrame {
 public:
  CallFrame(const Tensors& inputs, std::optional<bool> training, bool by_itself);
  ~CallFrame();
  CallFrame(const CallFrame&) = delete;
  bool outermost() const { return outer_ == nullptr; }
  bool training() const { return training_; }
  /// The inputs of the innermost call of this thread; null outside of calls.
  static const Tensors* current_inputs();

 private:
  const Tensors& inputs_;
  const CallFrame* outer_;
  int depth_;
  bool training_;
};

}  // namespace crescent

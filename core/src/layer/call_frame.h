// Calls of layers inside calls of layers, per thread.
#pragma once
#include <optional>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// One call of a layer while it runs: on what, how deep it is, and whether it trains (its own word,
/// that of the call around it, or `by_itself` where there is none).
class CallFrame {
 public:
  CallFrame(const Tensors& inputs, std::optional<bool> training, bool by_itself);
  ~CallFrame();
  CallFrame(const CallFrame&) = delete;
  bool outermost() const { return outer_ == nullptr; }
  bool training() const { return training_; }
  /// What the innermost call of this thread got; null outside of calls.
  static const Tensors* current_inputs();

 private:
  const Tensors& inputs_;
  const CallFrame* outer_;
  int depth_;
  bool training_;
};

}  // namespace crescent

// Calls of layers inside calls of layers, per thread.
#pragma once
#include <optional>

namespace crescent {

/// One call of a layer while it runs: how deep it is, and whether it trains (its own word, or that
/// of the call around it).
class CallFrame {
 public:
  explicit CallFrame(std::optional<bool> training);
  ~CallFrame();
  CallFrame(const CallFrame&) = delete;
  bool outermost() const { return outer_ == nullptr; }
  bool training() const { return training_; }

 private:
  const CallFrame* outer_;
  bool training_;
};

}  // namespace crescent

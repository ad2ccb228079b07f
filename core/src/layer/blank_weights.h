// Weights without initial values, for models whose weights are read from a file: drawing initial
// values takes longer than reading them.
#pragma once

namespace crescent {

/// While an object of this class lives, add_weight on this thread allocates memory without values.
class BlankWeights {
 public:
  BlankWeights() : before_(wanted_) { wanted_ = true; }
  ~BlankWeights() { wanted_ = before_; }
  BlankWeights(const BlankWeights&) = delete;
  static bool wanted() { return wanted_; }

 private:
  inline static thread_local bool wanted_ = false;
  bool before_;
};

}  // namespace crescent

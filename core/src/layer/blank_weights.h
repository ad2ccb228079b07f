// Weights without initial values, for models whose weights are read from a file: drawing initial
// values takes longer than reading them.
#pragma once

namespace crescent {

/// While an object of this class lives, add_weight on this thread allocates memory without values.
class BlankWeights {
 public:
  BlankWeights() : was_active_(active_) { active_ = true; }
  ~BlankWeights() { active_ = was_active_; }
  BlankWeights(const BlankWeights&) = delete;
  static bool active() { return active_; }

 private:
  inline static thread_local bool active_ = false;
  bool was_active_;
};

}  // namespace crescent

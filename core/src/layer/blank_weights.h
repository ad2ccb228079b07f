// Weights whose values come from elsewhere: drawing numbers for them takes longer than reading a
// file.
#pragma once

namespace crescent {

/// While alive, weights that layers add on this thread have memory and no initial values.
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

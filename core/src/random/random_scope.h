// Randomness of one piece of work, whichever thread does it.
#pragma once
#include "crescent/ops/random.h"

namespace crescent {

/// While it lives, global_random() of the calling thread is a generator of its own.
class RandomScope {
 public:
  explicit RandomScope(int64_t seed);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;

 private:
  SeedGenerator generator_;
  SeedGenerator* before_;
};

}  // namespace crescent

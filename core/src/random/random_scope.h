// A random generator for one unit of work, independent of the thread that does it.
#pragma once
#include "crescent/ops/random.h"

namespace crescent {

/// While an object of this class lives, global_random() of this thread is its generator.
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

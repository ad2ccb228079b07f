// A random generator for one unit of work, independent of the thread that does it.
#pragma once
#include "crescent/ops/random.h"

namespace crescent {

class CRESCENT_API RandomScope {
 public:
  /// Selects the generators of the thread that draw other numbers while an object of this class
  /// lives. `all` is for a thread that shares generators with other threads.
  enum class Replaces { global, all };

  /// While the object lives, global_random() of this thread is its generator. If it replaces all
  /// generators, the draws of another generator depend on the seeds of both, and do not advance it.
  explicit RandomScope(int64_t seed, Replaces replaces = Replaces::global);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;

  /// The innermost scope of this thread; null outside of all scopes.
  static RandomScope* current();
  SeedGenerator& generator() { return generator_; }
  /// Returns the state for one draw from the generator with this state; an empty Tensor if the
  /// scope does not replace that generator.
  Tensor state_for(const Variable& state) const;

 private:
  SeedGenerator generator_;
  Replaces replaces_;
  RandomScope* outer_;
};

}  // namespace crescent

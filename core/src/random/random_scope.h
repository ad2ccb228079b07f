// A random generator for one unit of work, independent of the thread that does it.
#pragma once
#include "crescent/ops/random.h"

namespace crescent {

class CRESCENT_API RandomScope {
 public:
  /// The generators that an object of this class replaces on its thread: global_random() alone, or
  /// all generators. `all` is for a thread that shares generators with other threads.
  enum class Replaces { global, all };

  /// While the object lives, global_random() of this thread returns generator(). With
  /// Replaces::all, the draws of any other generator depend on its seed and on `seed`, and do not
  /// advance its counter.
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

// A random generator for one unit of work. Its numbers do not depend on the thread that does the
// work.
#pragma once
#include "crescent/ops/random.h"

namespace crescent {

class CRESCENT_API RandomScope {
 public:
  /// Which generators an object of this class replaces on its thread: only global_random(), or all
  /// generators. `all` is for a thread that uses the same generators as other threads.
  enum class ReplacedGenerators { global, all };

  /// While the object lives, global_random() of this thread returns generator(). With
  /// ReplacedGenerators::all, the draws of any other generator depend on the seed of that generator
  /// and on `seed`, and do not advance the counter of that generator.
  explicit RandomScope(int64_t seed,
                       ReplacedGenerators replaced_generators = ReplacedGenerators::global);
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
  ReplacedGenerators replaced_generators_;
  RandomScope* outer_scope_;
};

}  // namespace crescent

// A region of many short steps, each of which reads what all threads made in the step before: one
// region and a meeting a step where there would be a region a step. Threads join between two steps
// as they arrive; until then, and where none does, those who are there do all of the work. Where
// another process disturbs the threads, the next ones run alone for a while.
#pragma once
#include "threads/pool.h"

namespace crescent::cpu {

/// body(context, step, first, last) for [0, count) of every step, cut among at most `most` threads.
/// What a step makes must not depend on the cut.
using StepBody = void (*)(void* context, int64_t step, int64_t first, int64_t last);
void run_lockstep(CpuThreads& threads, int64_t steps, int64_t count, int64_t most, StepBody body,
                  void* context);

/// f(step, first, last).
template <class F>
void lockstep(CpuThreads& threads, int64_t steps, int64_t count, int64_t most, F&& f) {
  run_lockstep(
      threads, steps, count, most,
      [](void* c, int64_t step, int64_t first, int64_t last) {
        (*static_cast<std::remove_reference_t<F>*>(c))(step, first, last);
      },
      &f);
}

}  // namespace crescent::cpu

// Lockstep: a parallel region of many short steps, each of which reads the results of all threads
// in the step before. Instead of a region per step, it needs one region and a barrier per step.
// Threads join between two steps, when they arrive; those that are present do all of the work. If
// another process disturbs the threads, the next lockstep regions run on one thread for a while.
#pragma once
#include "threads/pool.h"

namespace crescent::cpu {

/// In every step, calls body(context, step, first, last) for ranges that together cover [0, count)
/// and are divided among at most `max_threads` threads. Results of a step must not depend on this
/// division.
using StepBody = void (*)(void* context, int64_t step, int64_t first, int64_t last);
void run_lockstep(CpuThreads& threads, int64_t steps, int64_t count, int64_t max_threads,
                  StepBody body, void* context);

/// Calls f(step, first, last) as the body of run_lockstep().
template <class F>
void lockstep(CpuThreads& threads, int64_t steps, int64_t count, int64_t max_threads, F&& f) {
  run_lockstep(
      threads, steps, count, max_threads,
      [](void* c, int64_t step, int64_t first, int64_t last) {
        (*static_cast<std::remove_reference_t<F>*>(c))(step, first, last);
      },
      &f);
}

}  // namespace crescent::cpu

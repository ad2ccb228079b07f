#include "threads/lockstep.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "threads/relax.h"
#include "threads/work_trace.h"

namespace crescent::cpu {
namespace {

/// A counter that one thread raises and other threads wait for.
struct alignas(64) Signal {
  std::atomic<int64_t> value{0};
  int64_t get() const { return value.load(std::memory_order_acquire); }
  void set(int64_t new_value) { value.store(new_value, std::memory_order_release); }
};

using Clock = std::chrono::steady_clock;

// number of polls before the thread yields its core, which take some 45 us
constexpr int kPollsBeforeYield = 4096;

/// Polls done() for a while, then yields the core between polls, until done() is true. Returns the
/// time spent yielding.
template <class F>
Clock::duration wait(F&& is_done) {
  for (int i = 0; i < kPollsBeforeYield; ++i) {
    if (is_done()) return {};
    relax();
  }
  const auto begin = Clock::now();
  while (!is_done()) std::this_thread::yield();
  return Clock::now() - begin;
}

/// The threads of a lockstep region. The calling thread, the leader, announces each step and the
/// number of threads that take part in it; each thread signals the end of its share and waits for
/// the others. Helper threads that arrive late are admitted only after all others have finished a
/// step, so no step begins before the previous one is complete.
class Lockstep {
 public:
  Lockstep(int64_t steps, int64_t count, int64_t max_threads, StepBody body, void* context)
      : step_count_(steps),
        item_count_(count),
        max_threads_(max_threads),
        body_(body),
        context_(context) {
    announce(0, 1);
  }

  void lead() {
    int64_t participants = 1;
    for (int64_t step = 0; step < step_count_;) {
      run_share(step++, 0, participants);
      const int64_t next_participants =
          step < step_count_ ? std::min(max_threads_, 1 + arrived_count_.get()) : participants;
      if (next_participants == participants) announce(step, participants);
      for (int64_t thread = 1; thread < participants; ++thread)
        lost_time_ += wait_for(thread, step);
      if (next_participants == participants) continue;
      first_step_of_new_helpers_ = step, participants = next_participants;
      announce(step, participants);
    }
    leader_end_ = Clock::now();
  }

  void help() {
    const int64_t thread = 1 + arrived_count_.value.fetch_add(1);
    wait([&] { return participants() > thread || announced_step() == step_count_; });
    if (participants() <= thread) return;
    int64_t participant_count = participants();
    for (int64_t step = first_step_of_new_helpers_;;) {
      run_share(step++, thread, participant_count);
      done_steps_[thread].set(step);
      if (step == step_count_) return;
      wait([&] { return announced_step() >= step; });
      const int64_t next_participants = participants();
      for (int64_t other_participant = 1; other_participant < participant_count;
           ++other_participant)
        wait_for(other_participant, step);
      participant_count = next_participants;
    }
  }

  /// The time for which the leader waited for helpers, including the time from the end of its own
  /// share to the end of the region.
  Clock::duration lost_time() const { return lost_time_ + (Clock::now() - leader_end_); }

 private:
  static constexpr int64_t kParticipantCounts = Pool::kMaxThreads + 1;

  void announce(int64_t step, int64_t participants) {
    announcement_.set(step * kParticipantCounts + participants);
  }
  int64_t announced_step() const { return announcement_.get() / kParticipantCounts; }
  int64_t participants() const { return announcement_.get() % kParticipantCounts; }
  Clock::duration wait_for(int64_t thread, int64_t step) const {
    return wait([&] { return done_steps_[thread].get() >= step; });
  }
  void run_share(int64_t step, int64_t thread, int64_t participants) const {
    body_(context_, step, item_count_ * thread / participants,
          item_count_ * (thread + 1) / participants);
  }

  const int64_t step_count_, item_count_, max_threads_;
  const StepBody body_;
  void* const context_;
  Clock::duration lost_time_{};
  Clock::time_point leader_end_;  ///< the time when the leader finished its share
  /// The first step in which those helpers take part that were admitted last.
  int64_t first_step_of_new_helpers_ = 0;
  /// The number of steps that the leader has done, and the number of threads for the next step.
  Signal announcement_;
  Signal arrived_count_;                  ///< number of helpers that have arrived
  Signal done_steps_[Pool::kMaxThreads];  ///< number of steps that each helper has done
};

void run_steps(CpuThreads& threads, int64_t steps, int64_t count, int64_t max_threads,
               StepBody body, void* context) {
  // If another process takes a helper's core, all threads must wait until the helper gets it back.
  // After such a loss, regions run without helpers for a multiple of the lost time.
  static std::atomic<Clock::duration> single_thread_until{Clock::duration::zero()};
  constexpr int kSingleThreadPerLostTime = 16;
  constexpr auto kMaxNegligibleLoss = std::chrono::microseconds(20);
  max_threads = std::clamp<int64_t>(std::min<int64_t>(max_threads, threads.threads()), 1,
                                    std::max<int64_t>(1, count));
  if (max_threads > 1 &&
      Clock::now().time_since_epoch() < single_thread_until.load(std::memory_order_relaxed))
    max_threads = 1;
  Lockstep lockstep(steps, count, max_threads, body, context);
  threads.parallel(max_threads,
                   [&](int64_t part, int) { part == 0 ? lockstep.lead() : lockstep.help(); });
  const auto lost_time = lockstep.lost_time();
  if (lost_time > kMaxNegligibleLoss)
    single_thread_until.store(
        Clock::now().time_since_epoch() + kSingleThreadPerLostTime * lost_time,
        std::memory_order_relaxed);
}

/// Runs the region by run_steps(), and records the time of its work for a profile.
void run_timed(CpuThreads& threads, int64_t steps, int64_t count, int64_t max_threads,
               StepBody body, void* context, WorkTrace& trace) {
  std::atomic<Clock::rep> work_time{0};
  auto run_and_time_step = [&](int64_t step, int64_t first, int64_t last) {
    const auto begin = Clock::now();
    body(context, step, first, last);
    work_time += (Clock::now() - begin).count();
  };
  trace.begin_region(0);
  run_steps(
      threads, steps, count, max_threads,
      [](void* c, int64_t step, int64_t first, int64_t last) {
        (*static_cast<decltype(run_and_time_step)*>(c))(step, first, last);
      },
      &run_and_time_step);
  trace.end_region(count, std::max<int64_t>(1, max_threads), Clock::duration(work_time.load()));
}

}  // namespace

void run_lockstep(CpuThreads& threads, int64_t steps, int64_t count, int64_t max_threads,
                  StepBody body, void* context) {
  WorkTrace* trace = WorkTrace::current();
  trace ? run_timed(threads, steps, count, max_threads, body, context, *trace)
        : run_steps(threads, steps, count, max_threads, body, context);
}

}  // namespace crescent::cpu

// The lock of the Lua state. The thread of the script or prompt holds it, and unlocks it while it
// waits; threads that train in the background lock it for one batch at a time, and unlock it within
// the batch while a step computes. The thread of the script therefore holds the lock either between
// two batches or while a step computes; then it must not use the variables and objects of the step.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>

namespace crescent::lua {

class StateLock {
 public:
  using Condition = std::function<bool()>;
  using Time = std::chrono::steady_clock::time_point;
  /// The lock of the process's Lua state, which the thread of the script holds at first.
  static StateLock& instance();

  void unlock();

  // ---- for the thread of the script, which has precedence over background threads
  void lock();
  /// Locks; returns false if the lock does not become free within `time`.
  bool try_lock_for(std::chrono::milliseconds time);
  /// Locks for running an entry of the prompt.
  void lock_for_entry();
  /// Unlocks until an interruption, or until `is_done` returns true; `is_done` is called at regular
  /// intervals and at the time `deadline`.
  void unlock_until(const Condition& is_done, Time deadline = Time::max());
  /// Lets one background thread that is ready process a batch, unless an entry of the prompt has
  /// just begun.
  void yield();
  /// Whether the calling thread, which holds the lock, is the thread of the script, and a
  /// background thread is in the middle of a step.
  bool is_within_step() const;
  /// Waits until no batch is being processed. Fails after an interruption, and when the time of a
  /// StepPatience is over; the step may then still compute.
  void await_batch_end();
  /// Waits until no step computes, without unlocking: a thread that has computed a step continues
  /// when the lock is unlocked.
  void await_computation_end();

  // ---- for threads in the background, which lock one after the other
  /// Locks once `is_ready` returns true; `is_ready` may read only atomics and variables that are
  /// changed by the thread that holds the lock.
  void lock_in_background(Condition is_ready);
  /// Unlocks while a step computes, but only for the thread of the script: other background threads
  /// continue to wait.
  void begin_step();
  /// Locks again at the end of a step. If the thread of the script holds the lock, the function
  /// first waits until that thread unlocks.
  void end_step();
  /// Whether the calling thread is a background thread.
  static bool is_background();

 private:
  struct Waiter {
    Condition is_ready;
    bool has_lock = false;
  };
  /// The state of the step that a background thread computes without the lock, see begin_step().
  enum class StepState {
    none,
    computing,
    computed  ///< the computation is over; its thread waits for the lock and gets it next
  };
  void notify_next_waiter();
  bool is_free() const { return !is_locked_ && step_state_ != StepState::computed; }
  bool acquire(std::unique_lock<std::mutex>& mutex, Time deadline);
  bool relock_between_batches(Time deadline);

  std::mutex mutex_;
  std::condition_variable changed_condition_;
  bool is_locked_ = true;
  bool is_wanted_ = false;  ///< whether the thread of the script waits for the lock
  std::atomic<StepState> step_state_ = StepState::none;  ///< changed only by the thread of the step
  bool has_new_entry_ = false;
  std::list<Waiter*> waiters_;
};

/// While an object of this class exists, background threads may lock the Lua state.
class UnlockedState {
 public:
  UnlockedState() { StateLock::instance().unlock(); }
  ~UnlockedState() { StateLock::instance().lock_for_entry(); }
  UnlockedState(const UnlockedState&) = delete;
};

/// While an object of this class lives, await_batch_end() waits on its thread at most until `time`
/// has passed since the object was created.
class StepPatience {
 public:
  explicit StepPatience(std::chrono::milliseconds time);
  ~StepPatience();
  StepPatience(const StepPatience&) = delete;
};

/// While an object of this class lives, its thread works in a Lua state of its own, which the
/// StateLock does not guard.
class SeparateState {
 public:
  SeparateState();
  ~SeparateState();
  SeparateState(const SeparateState&) = delete;
};

}  // namespace crescent::lua

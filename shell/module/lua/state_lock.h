// The lock of the Lua state. The thread of the script or of the prompt holds it, and unlocks it
// while it waits; threads that train in the background lock it for one batch at a time, and unlock
// it within the batch while a step computes. So the thread of the script either holds the lock
// between two batches, or while a step computes, when it must not touch what the step uses.
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

  // ---- for the thread of the script, which has precedence over threads in the background
  void lock();
  /// Returns false when the lock does not become free within this time.
  bool try_lock_for(std::chrono::milliseconds time);
  /// Locks for an entry of the prompt.
  void lock_for_entry();
  /// Unlocks until `done`, which is checked now and then and at `end`, returns true, or until an
  /// interruption.
  void unlock_until(const Condition& done, Time end = Time::max());
  /// Lets a thread in the background that is ready process a batch, unless an entry has just begun.
  void yield();
  /// Whether this thread, which holds the lock, is that of the script and a step computes.
  bool is_within_step() const;
  /// Waits until no batch is being processed. Fails after an interruption and at the end of a
  /// StepPatience, when the step may still compute.
  void await_batch_end();
  /// Waits until no step computes, with the lock held: a thread that has computed one goes on when
  /// it is unlocked.
  void await_computed();

  // ---- for threads in the background, which lock one after the other
  /// Locks once `ready` is true; `ready` reads only atomics and what the holder of the lock
  /// changes.
  void lock_in_background(Condition ready);
  /// Unlock and lock again for the thread of the script alone, before and after a step computes.
  void begin_step();
  void end_step();
  /// Whether the calling thread is one in the background.
  static bool is_background();

 private:
  struct Waiter {
    Condition ready;
    bool has_lock = false;
  };
  enum class Step {
    none,
    computing,
    computed  ///< its thread waits for the lock, before any other
  };
  void pass_on();
  bool is_free() const { return !locked_ && step_ != Step::computed; }
  bool lock_between_batches(Time end);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool locked_ = true, wanted_ = false;  ///< wanted: by the thread of the script
  std::atomic<Step> step_ = Step::none;  ///< changed by its thread alone
  bool entry_begins_ = false;
  std::list<Waiter*> waiters_;
};

/// While an object of this class lives, threads in the background may lock the Lua state.
class UnlockedState {
 public:
  UnlockedState() { StateLock::instance().unlock(); }
  ~UnlockedState() { StateLock::instance().lock_for_entry(); }
  UnlockedState(const UnlockedState&) = delete;
};

/// While an object of this class lives, its thread waits for the end of a batch no longer than
/// this.
class StepPatience {
 public:
  explicit StepPatience(std::chrono::milliseconds time);
  ~StepPatience();
  StepPatience(const StepPatience&) = delete;
};

/// While an object of this class lives, its thread works in a Lua state of its own, which the lock
/// does not guard.
class SeparateState {
 public:
  SeparateState();
  ~SeparateState();
  SeparateState(const SeparateState&) = delete;
};

}  // namespace crescent::lua

// The lock of the Lua state. The thread of the script or of the prompt holds it, and unlocks it
// where it waits; threads that train in the background lock it for a batch.
#pragma once
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

  // ---- for the thread of the script, which comes before threads in the background
  void lock();
  /// False when the lock is not free within this time.
  bool try_lock_for(std::chrono::milliseconds time);
  /// Locks for an entry of the prompt.
  void lock_for_entry();
  /// Unlocks until `done`, which is asked now and then and at `end`, or until an interruption.
  void unlock_until(const Condition& done, Time end = Time::max());
  /// Lets a thread that is ready lock once, unless an entry has just begun.
  void yield();

  // ---- for threads in the background, who come one after the other
  /// Waits until `ready`, which reads atomics and what only the holder of the lock changes.
  void lock_in_background(Condition ready);
  /// Whether this thread is one in the background.
  static bool is_background();

 private:
  struct Waiter {
    Condition ready;
    bool has_lock = false;
  };
  void pass_on();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool locked_ = true, wanted_ = false;  ///< wanted: by the thread of the script
  bool entry_begins_ = false;
  std::list<Waiter*> waiters_;
};

/// While it lives, the lock of the Lua state is free for threads in the background.
class UnlockedState {
 public:
  UnlockedState() { StateLock::instance().unlock(); }
  ~UnlockedState() { StateLock::instance().lock_for_entry(); }
  UnlockedState(const UnlockedState&) = delete;
};

}  // namespace crescent::lua

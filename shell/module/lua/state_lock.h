// The lock of the Lua state. The thread of the script or prompt holds it, and unlocks it while it
// waits; threads that train in the background lock it for one batch at a time.
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

  // ---- for the thread of the script, which has precedence over background threads
  void lock();
  /// Returns false if the lock does not become free within this time.
  bool try_lock_for(std::chrono::milliseconds time);
  /// Locks for running an entry of the prompt.
  void lock_for_entry();
  /// Unlocks until an interruption, or until `done` returns true; `done` is checked at regular
  /// intervals and at the time `end`.
  void unlock_until(const Condition& done, Time end = Time::max());
  /// Lets one background thread that is ready lock once, unless an entry of the prompt has just
  /// begun.
  void yield();

  // ---- for threads in the background, which lock one after the other
  /// Locks once `ready` is true; `ready` reads only atomics and what the holder of the lock
  /// changes.
  void lock_in_background(Condition ready);
  /// Whether the calling thread is a background thread.
  static bool is_background();

 private:
  struct Waiter {
    Condition ready;
    bool has_lock = false;
  };
  void pass_on();
  void wait_for_lock(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool locked_ = true, wanted_ = false;  ///< wanted_: the thread of the script waits for the lock
  bool entry_begins_ = false;
  std::list<Waiter*> waiters_;
};

/// While an object of this class exists, background threads may lock the Lua state.
class UnlockedState {
 public:
  UnlockedState() { StateLock::instance().unlock(); }
  ~UnlockedState() { StateLock::instance().lock_for_entry(); }
  UnlockedState(const UnlockedState&) = delete;
};

}  // namespace crescent::lua

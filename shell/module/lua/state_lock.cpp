#include "lua/state_lock.h"

#include <algorithm>
#include <utility>

#include "crescent/system/interrupt.h"

namespace crescent::lua {
namespace {

// Interval between checks of the condition that a thread waits for.
constexpr std::chrono::milliseconds kPollInterval{20};

thread_local bool in_background = false;

}  // namespace

/// The lock is never destroyed, because threads may wait for it when the process exits.
StateLock& StateLock::instance() {
  static auto* lock = new StateLock;
  return *lock;
}

bool StateLock::is_background() { return in_background; }

/// Wakes the waiting threads. Among the background threads, the one that has been ready longest
/// gets the lock.
void StateLock::pass_on() {
  changed_.notify_all();
  if (locked_ || wanted_) return;
  const auto next = std::find_if(waiters_.begin(), waiters_.end(),
                                 [](const Waiter* waiter) { return waiter->ready(); });
  if (next == waiters_.end()) return;
  locked_ = (*next)->has_lock = true;
  waiters_.erase(next);
}

void StateLock::unlock() {
  const std::lock_guard lock(mutex_);
  locked_ = false;
  pass_on();
}

void StateLock::lock() {
  std::unique_lock lock(mutex_);
  wait_for_lock(lock);
}

void StateLock::wait_for_lock(std::unique_lock<std::mutex>& lock) {
  wanted_ = true;
  changed_.wait(lock, [this] { return !locked_; });
  wanted_ = false;
  locked_ = true;
}

bool StateLock::try_lock_for(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  wanted_ = true;
  const bool free = changed_.wait_for(lock, time, [this] { return !locked_; });
  wanted_ = false;
  locked_ = locked_ || free;
  return free;
}

void StateLock::lock_for_entry() {
  lock();
  entry_begins_ = true;
}

void StateLock::unlock_until(const Condition& done, Time end) {
  entry_begins_ = false;
  unlock();
  {
    std::unique_lock lock(mutex_);
    while (!done() && !interrupted())
      changed_.wait_until(lock, std::min(end, std::chrono::steady_clock::now() + kPollInterval));
  }
  lock();
}

/// The lock is wanted again before the mutex is released, so a background thread has it for one turn
/// and not until the system lets this thread go on.
void StateLock::yield() {
  if (in_background || std::exchange(entry_begins_, false)) return;
  std::unique_lock lock(mutex_);
  locked_ = false;
  pass_on();
  wait_for_lock(lock);
}

void StateLock::lock_in_background(Condition ready) {
  in_background = true;
  std::unique_lock lock(mutex_);
  Waiter waiter{std::move(ready)};
  waiters_.push_back(&waiter);
  pass_on();
  changed_.wait(lock, [&] { return waiter.has_lock; });
}

}  // namespace crescent::lua

#include "lua/state_lock.h"

#include <algorithm>
#include <utility>

#include "crescent/base/error.h"
#include "crescent/system/interrupt.h"

namespace crescent::lua {
namespace {

using Clock = std::chrono::steady_clock;

// The interval at which a waiting thread checks its condition.
constexpr std::chrono::milliseconds kPollInterval{20};

thread_local bool is_in_background = false;
thread_local int separate_state_count = 0;  // the number of SeparateState objects of this thread
// The time at which await_batch_end() stops waiting on this thread.
thread_local StateLock::Time patience_end = StateLock::Time::max();

}  // namespace

/// The lock is never destroyed, because threads may wait for it when the process exits.
StateLock& StateLock::instance() {
  static auto* lock = new StateLock;
  return *lock;
}

bool StateLock::is_background() { return is_in_background; }

/// Wakes the threads that wait for the lock. If the thread of the script does not wait for it, the
/// background thread that has been ready longest gets the lock.
void StateLock::notify_next_waiter() {
  changed_condition_.notify_all();
  if (is_locked_ || is_wanted_ || step_state_ != StepState::none) return;
  const auto next = std::find_if(waiters_.begin(), waiters_.end(),
                                 [](const Waiter* waiter) { return waiter->is_ready(); });
  if (next == waiters_.end()) return;
  is_locked_ = (*next)->has_lock = true;
  waiters_.erase(next);
}

void StateLock::unlock() {
  const std::lock_guard lock(mutex_);
  is_locked_ = false;
  notify_next_waiter();
}

/// Locks when the lock is free; returns false if it does not become free before `deadline`.
bool StateLock::acquire(std::unique_lock<std::mutex>& mutex, Time deadline) {
  is_wanted_ = true;
  const bool became_free =
      changed_condition_.wait_until(mutex, deadline, [this] { return is_free(); });
  is_wanted_ = false;
  is_locked_ = is_locked_ || became_free;
  return became_free;
}

void StateLock::lock() {
  std::unique_lock mutex(mutex_);
  acquire(mutex, Time::max());
}

bool StateLock::try_lock_for(std::chrono::milliseconds time) {
  std::unique_lock mutex(mutex_);
  return acquire(mutex, Clock::now() + time);
}

void StateLock::lock_for_entry() {
  lock();
  has_new_entry_ = true;
}

void StateLock::unlock_until(const Condition& is_done, Time deadline) {
  has_new_entry_ = false;
  unlock();
  {
    std::unique_lock lock(mutex_);
    while (!is_done() && !interrupted())
      changed_condition_.wait_until(lock, std::min(deadline, Clock::now() + kPollInterval));
  }
  lock();
}

void StateLock::yield() {
  if (is_in_background || std::exchange(has_new_entry_, false)) return;
  relock_between_batches(Time::max());
}

bool StateLock::is_within_step() const {
  return step_state_.load(std::memory_order_acquire) != StepState::none && !is_in_background &&
         separate_state_count == 0;
}

void StateLock::await_batch_end() {
  if (!is_within_step()) return;
  has_new_entry_ = false;
  if (relock_between_batches(patience_end)) return;
  heed_interruption("a run of fit_async processed a batch");
  fail("a run of fit_async processes a batch");
}

/// Unlocks, waits until no batch is being processed, and locks. After an interruption or at the
/// time `deadline`, does not wait for the end of the batch. Returns whether no batch is being
/// processed. The flag is_wanted_ is set before the mutex is released, so that a background thread
/// gets the lock for one batch only.
bool StateLock::relock_between_batches(Time deadline) {
  std::unique_lock lock(mutex_);
  is_locked_ = false;
  notify_next_waiter();
  is_wanted_ = true;
  const auto is_between = [this] { return !is_locked_ && step_state_ == StepState::none; };
  while (!is_between() && !interrupted() && Clock::now() < deadline)
    changed_condition_.wait_until(lock, std::min(deadline, Clock::now() + kPollInterval));
  acquire(lock, Time::max());
  return step_state_ == StepState::none;
}

void StateLock::await_computation_end() {
  if (!is_within_step()) return;
  std::unique_lock lock(mutex_);
  changed_condition_.wait(lock, [this] { return step_state_ != StepState::computing; });
}

void StateLock::lock_in_background(Condition is_ready) {
  is_in_background = true;
  std::unique_lock lock(mutex_);
  Waiter waiter{std::move(is_ready)};
  waiters_.push_back(&waiter);
  notify_next_waiter();
  changed_condition_.wait(lock, [&] { return waiter.has_lock; });
}

void StateLock::begin_step() {
  const std::lock_guard lock(mutex_);
  step_state_ = StepState::computing;
  is_locked_ = false;
  notify_next_waiter();
}

void StateLock::end_step() {
  std::unique_lock lock(mutex_);
  step_state_ = StepState::computed;
  changed_condition_.notify_all();
  changed_condition_.wait(lock, [this] { return !is_locked_; });
  step_state_ = StepState::none;
  is_locked_ = true;
}

StepPatience::StepPatience(std::chrono::milliseconds time) { patience_end = Clock::now() + time; }
StepPatience::~StepPatience() { patience_end = StateLock::Time::max(); }

SeparateState::SeparateState() { ++separate_state_count; }
SeparateState::~SeparateState() { --separate_state_count; }

}  // namespace crescent::lua

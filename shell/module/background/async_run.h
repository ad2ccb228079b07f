// A run of fit_async is a thread that repeatedly locks the Lua state, processes one batch and
// unlocks the state. While a step of the batch computes, the state is unlocked too
// (computing_step.h). A copy of the status of the run is stored after batches; any thread can read
// it at any time.
#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "crescent/model/training_run.h"
#include "lua/state.h"

namespace crescent::lua {

class AsyncRun final : public Object {
 public:
  enum class State { running, paused, ended, failed };

  AsyncRun(lua_State* L, TrainingRunPtr run);
  ~AsyncRun() override;
  std::string class_name() const override { return "AsyncRun"; }
  void start();

  /// The epoch, batch and logs of a run at the end of a batch.
  struct Status {
    int64_t epoch = 0, epochs = 0, batch = 0, batches = -1;  ///< the same as those of TrainingRun
    bool is_validating = false;
    NamedValues logs;
    double seconds = 0;  ///< the time spent on batches
  };

  // The functions below may be called by any thread at any time.
  State state() const { return state_; }
  bool is_over() const { return state_ == State::ended || state_ == State::failed; }
  /// The error of a run that has failed; empty for other runs.
  std::string error() const { return state_ == State::failed ? error_ : ""; }
  /// The copy of the status that the thread of the run stored after a recent batch. It may be some
  /// milliseconds old.
  Status cached_status() const;

  // The functions below may only be called by the thread of the script and of the prompt.
  /// Marks the error as reported to the user; returns true if it had not been reported.
  bool mark_error_reported() { return !is_error_reported_.exchange(true); }
  /// Marks the state and the epoch of cached_status() as reported to the user; returns true if one
  /// of them had not been reported.
  bool mark_position_reported();
  bool is_reported() const { return reported_position_ == state_and_epoch(); }

  // The functions below may only be called by the thread that holds the lock of the Lua state.
  TrainingRun& run() const { return *run_; }
  const TrainingRunPtr& shared_run() const { return run_; }
  /// Whether the calling thread is that of the run.
  bool is_own_thread() const { return thread_.get_id() == std::this_thread::get_id(); }
  /// The current status; while a step computes, the status before its batch. If the run is paused,
  /// the function first waits for the end of the batch.
  Status status() const;
  /// Updates cached_status(), unless a step computes.
  void refresh() const;

  void pause();
  void resume();
  /// Lets a paused run process `batch_count` batches; returns when it has processed them.
  void step(int64_t batch_count);
  /// Ends the run after the current batch, as setting stop_training does.
  void stop();
  void wait();
  /// Tells the thread to end without processing another batch.
  void abandon();
  void join();

 private:
  void expect_other_thread() const;
  template <class Done>
  void wait_until(Done is_done);
  using StateAndEpoch = std::pair<State, int64_t>;
  StateAndEpoch state_and_epoch() const { return {state_, cached_status().epoch}; }
  void process_batches();
  void process_batch();
  void update_cached_status() const;
  void report();

  TrainingRunPtr run_;
  lua_State* lua_;  ///< the Lua thread in which callbacks run
  Ref lua_thread_reference_;
  std::thread thread_;
  std::atomic<State> state_ = State::running;
  /// The number of batches that a paused run may still process.
  std::atomic<int64_t> remaining_batches_ = 0;
  std::string error_;                           ///< does not change once the state is `failed`
  std::atomic<bool> is_error_reported_ = true;  ///< whether the error was reported to the user
  /// The state and epoch that were last reported to the user.
  StateAndEpoch reported_position_{State::running, -1};
  double seconds_ = 0;

  mutable std::mutex mutex_;  ///< guards cached_status_
  mutable Status cached_status_;

  // The members below are used only by the thread of the run.
  std::chrono::steady_clock::time_point cache_time_;      ///< when cached_status_ was last set
  std::chrono::steady_clock::time_point next_call_time_;  ///< when the listener may next be called
  /// The state and epoch at the last call of the listener.
  StateAndEpoch position_of_last_call_{State::running, 0};
};
using AsyncRunPtr = std::shared_ptr<AsyncRun>;

/// The runs that are not over, and those whose end or error has not been reported to the user.
std::vector<AsyncRunPtr>& async_runs();

/// Fails if a run of fit_async trains the model, unless the calling thread is the thread of that
/// run.
void expect_not_in_training(const Model& model, const char* what);

/// Waits for the end of the batch that a paused run of fit_async computes. Fails if a run that is
/// not paused trains the model, unless the calling thread is the thread of that run.
void await_end_of_batch(const Model& model, const char* what);

/// Sets a function that is called on the thread of a run, several times a second at most, after a
/// batch with which the run has begun another epoch, ended or failed.
void set_run_listener(void (*listener)());

/// The state as text: "running, epoch 2 of 3, batch 5 of 63, loss 0.31".
std::string status_text(const AsyncRun& run, const AsyncRun::Status& status);

/// The epoch and the batch as text, counted from 1: "epoch 2 of 3, batch 5 of 63".
std::string position_text(const AsyncRun::Status& status);

}  // namespace crescent::lua

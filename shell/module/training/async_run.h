// A run of fit_async is a thread that repeatedly locks the Lua state, processes one batch and
// unlocks the state. Other code that holds the lock therefore finds the model between two batches.
#pragma once
#include <atomic>
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

  // The functions below may only be called by the thread that holds the lock of the Lua state.
  TrainingRun& run() const { return *run_; }
  const TrainingRunPtr& shared_run() const { return run_; }
  State state() const { return state_; }
  bool is_over() const { return state_ == State::ended || state_ == State::failed; }
  /// Whether the calling thread is that of the run.
  bool is_own_thread() const { return thread_.get_id() == std::this_thread::get_id(); }
  const std::string& error() const { return error_; }
  double seconds() const { return seconds_; }
  /// Marks the error as reported to the user; returns true if it had not been reported.
  bool tell_error() { return !std::exchange(told_, true); }

  /// Marks the current epoch and state as reported to the user; returns true if one of them had not
  /// been reported.
  bool tell_place() {
    const std::pair place(state_.load(), run_->epoch());
    return std::exchange(told_place_, place) != place;
  }

  void pause();
  void resume();
  /// Lets a paused run process this many batches; returns when it has done so.
  void step(int64_t batches);
  /// Ends the run after the current batch, as setting stop_training does.
  void stop();
  void wait();
  /// Tells the thread to end without processing another batch.
  void abandon();
  void join();

 private:
  void expect_other_thread() const;
  template <class Done>
  void wait_until(Done done);
  void work();
  void advance();

  TrainingRunPtr run_;
  lua_State* lua_;  ///< the Lua thread in which callbacks run
  Ref anchor_;
  std::thread thread_;
  std::atomic<State> state_ = State::running;
  std::atomic<int64_t> steps_ = 0;  ///< batches that a paused run may still process
  std::string error_;
  bool told_ = true;  ///< whether the error was reported to the user
  std::pair<State, int64_t> told_place_{State::running, -1};
  double seconds_ = 0;
};
using AsyncRunPtr = std::shared_ptr<AsyncRun>;

/// The runs that are not over, and those whose error has not been reported to the user.
std::vector<AsyncRunPtr>& async_runs();

/// Fails if a background thread trains the model, unless the calling thread is this thread.
void expect_not_in_training(const Model& model, const char* what);

/// The state as text: "running, epoch 2 of 3, batch 5 of 63, loss 0.31".
std::string status_text(AsyncRun& run);

/// The position of a run as text; epochs and batches count from 1: "epoch 2 of 3, batch 5 of 63".
std::string place_of(const TrainingRun& run);

}  // namespace crescent::lua

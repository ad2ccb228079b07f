#include "background/async_run.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <span>

#include "background/computing_step.h"
#include "crescent/system/thread.h"
#include "host/computation_observer.h"
#include "lua/state_lock.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

using Clock = std::chrono::steady_clock;

// cached_status_ is updated at most once per kMinCacheInterval; on average, the listener is called
// at most once per kReportInterval.
constexpr std::chrono::milliseconds kMinCacheInterval{10}, kReportInterval{100};
// A listener that has not been called for kBurst may then be called about kBurst / kReportInterval
// times without pauses.
constexpr std::chrono::seconds kBurst{1};

/// An observer that does nothing. It replaces the usual observer (ComputingStep), which would
/// unlock the Lua state while a compiled function computes.
struct NullObserver final : ComputationObserver {
  void begin(std::span<const Program::Binding>) noexcept override {}
  void end() noexcept override {}
};

std::atomic<void (*)()> run_listener = nullptr;

void block_signals() {
  sigset_t all_signals;
  sigfillset(&all_signals);
  pthread_sigmask(SIG_BLOCK, &all_signals, nullptr);
}

std::string progress_text(const char* prefix, int64_t number, int64_t count) {
  return concat(prefix, number, count < 0 ? "" : concat(" of ", count));
}

AsyncRun::Status status_without_logs(const TrainingRun& run) {
  return {run.epoch(), run.epochs(), run.batch(), run.batches(), run.validating(), {}, 0};
}

}  // namespace

AsyncRun::AsyncRun(lua_State* L, TrainingRunPtr run)
    : run_(std::move(run)),
      lua_(lua_newthread(L)),
      lua_thread_reference_(L, -1),
      cached_status_(status_without_logs(*run_)) {
  lua_pop(L, 1);
}

AsyncRun::~AsyncRun() { join(); }

void AsyncRun::start() {
  thread_ = start_thread([this] { process_batches(); });
  if (!thread_.joinable()) fail("fit_async: the system starts no thread");
}

AsyncRun::Status AsyncRun::cached_status() const {
  const std::lock_guard lock(mutex_);
  return cached_status_;
}

bool AsyncRun::mark_position_reported() {
  const StateAndEpoch position = state_and_epoch();
  return std::exchange(reported_position_, position) != position;
}

AsyncRun::Status AsyncRun::status() const {
  if (state_ == State::paused && is_computing(run_->model()))
    StateLock::instance().await_batch_end();
  refresh();
  return cached_status();
}

void AsyncRun::refresh() const {
  if (!is_computing(run_->model())) update_cached_status();
}

void AsyncRun::update_cached_status() const {
  Status new_status = status_without_logs(*run_);
  new_status.logs = run_->logs();
  new_status.seconds = seconds_;
  const std::lock_guard lock(mutex_);
  cached_status_ = std::move(new_status);
}

void AsyncRun::pause() {
  if (!is_over()) state_ = State::paused;
}

void AsyncRun::resume() {
  if (!is_over()) state_ = State::running;
}

void AsyncRun::step(int64_t batch_count) {
  expect_other_thread();
  pause();
  remaining_batches_ = batch_count;
  wait_until([this] { return remaining_batches_ == 0 || is_over(); });
}

void AsyncRun::stop() {
  run_->stop();
  resume();
  if (!is_own_thread()) wait();
}

void AsyncRun::wait() {
  if (state_ == State::paused) fail("wait: the run is paused; run:resume() lets it go on");
  wait_until([this] { return is_over(); });
  mark_position_reported();
}

void AsyncRun::abandon() {
  if (!is_over()) state_ = State::ended;
}

void AsyncRun::join() {
  if (thread_.joinable()) thread_.join();
}

void AsyncRun::expect_other_thread() const {
  if (is_own_thread()) fail("a callback of a run cannot wait for the run");
}

template <class Done>
void AsyncRun::wait_until(Done is_done) {
  expect_other_thread();
  Interruptible interruptible;
  StateLock::instance().unlock_until(is_done);
  if (is_done()) return;
  remaining_batches_ = 0;
  throw Interrupted("interrupted; the run goes on: run:stop() ends it");
}

void AsyncRun::process_batches() {
  block_signals();
  const NoSignalHandling no_signal_handling;
  const ComputingStep step(run_->model(), [this] { return !is_over(); });
  StateLock& lock = StateLock::instance();
  for (bool has_ended = false; !has_ended; lock.unlock()) {
    lock.lock_in_background([this] { return state_ != State::paused || remaining_batches_ > 0; });
    if (!is_over()) process_batch();
    has_ended = is_over();
  }
}

/// Processes one batch. Work that is due before it, such as the end of an epoch, is done first.
void AsyncRun::process_batch() {
  const auto begin = Clock::now();
  const auto body = [](lua_State*, const void* self) {
    static_cast<const AsyncRun*>(self)->run_->advance(1);
    return 0;
  };
  const bool has_failed = guarded(lua_, body, this) < 0;
  if (is_over()) return;  // another thread abandoned the run while a step computed
  if (has_failed) {
    error_ = text_of(lua_, -1);
    is_error_reported_ = false;
    state_ = State::failed;
  } else if (run_->ended()) {
    state_ = State::ended;
  }
  lua_settop(lua_, 0);
  seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
  report();
  if (remaining_batches_ > 0) --remaining_batches_;
}

/// Updates cached_status_ after a batch, unless it was updated a moment ago and the run continues.
/// Calls the listener if the run has begun another epoch, ended or failed.
void AsyncRun::report() {
  const auto now = Clock::now();
  const StateAndEpoch position(state_, run_->epoch());
  const bool must_call_listener =
      position != position_of_last_call_ && (is_over() || now >= next_call_time_);
  if (!must_call_listener && state_ == State::running && now - cache_time_ < kMinCacheInterval)
    return;
  const NullObserver observer;
  const auto body = [](lua_State*, const void* self) {
    static_cast<const AsyncRun*>(self)->update_cached_status();
    return 0;
  };
  // ignores the error of a metric here: it is raised when the epoch ends
  guarded(lua_, body, this);
  lua_settop(lua_, 0);
  cache_time_ = Clock::now();
  if (!must_call_listener) return;
  position_of_last_call_ = position;
  next_call_time_ = std::max(next_call_time_, now - kBurst) + kReportInterval;
  if (void (*const listener)() = run_listener) listener();
}

void set_run_listener(void (*listener)()) { run_listener = listener; }

/// The list is never destroyed, since the process may exit while runs continue.
std::vector<AsyncRunPtr>& async_runs() {
  static auto* runs = new std::vector<AsyncRunPtr>;
  return *runs;
}

namespace {

/// The run that trains the model, unless the calling thread is the thread of that run; else null.
AsyncRunPtr run_in_background(const Model& model) {
  for (const AsyncRunPtr& run : async_runs())
    if (!run->is_over() && &run->run().model() == &model && !run->is_own_thread()) return run;
  return nullptr;
}

[[noreturn]] void fail_in_training(const AsyncRun& run, const char* what, const char* remedy) {
  fail(what, ": model '", run.run().model().name(), "' is in training by fit_async (",
       position_text(status_without_logs(run.run())), "): ", remedy);
}

}  // namespace

void expect_not_in_training(const Model& model, const char* what) {
  if (const AsyncRunPtr run = run_in_background(model))
    fail_in_training(*run, what, "run:wait() until it has ended, or run:stop() it");
}

void await_end_of_batch(const Model& model, const char* what) {
  const AsyncRunPtr run = run_in_background(model);
  if (!run) return;
  if (run->state() != AsyncRun::State::paused)
    fail_in_training(*run, what, "run:pause() it, or run:wait() until it has ended");
  if (is_computing(model)) StateLock::instance().await_batch_end();
}

std::string position_text(const AsyncRun::Status& status) {
  const int64_t epoch = std::min(status.epoch + 1, std::max<int64_t>(status.epochs, 1));
  return progress_text(status.is_validating ? "validation of epoch " : "epoch ", epoch,
                       status.epochs) +
         progress_text(", batch ", status.batch, status.batches);
}

}  // namespace crescent::lua

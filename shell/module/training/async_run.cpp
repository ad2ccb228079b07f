#include "training/async_run.h"

#include <algorithm>
#include <chrono>
#include <csignal>

#include "crescent/system/thread.h"
#include "lua/state_lock.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

using Clock = std::chrono::steady_clock;

void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

std::string of_count(const char* before, int64_t number, int64_t count) {
  return concat(before, number, count < 0 ? "" : concat(" of ", count));
}

}  // namespace

AsyncRun::AsyncRun(lua_State* L, TrainingRunPtr run)
    : run_(std::move(run)), lua_(lua_newthread(L)), anchor_(L, -1) {
  lua_pop(L, 1);
}

AsyncRun::~AsyncRun() { join(); }

void AsyncRun::start() {
  thread_ = start_thread([this] { work(); });
  if (!thread_.joinable()) fail("fit_async: the system starts no thread");
}

void AsyncRun::pause() {
  if (!is_over()) state_ = State::paused;
}

void AsyncRun::resume() {
  if (!is_over()) state_ = State::running;
}

void AsyncRun::step(int64_t batches) {
  expect_other_thread();
  pause();
  steps_ = batches;
  wait_until([this] { return steps_ == 0 || is_over(); });
}

void AsyncRun::stop() {
  run_->stop();
  resume();
  if (!is_own_thread()) wait();
}

void AsyncRun::wait() {
  if (state_ == State::paused) fail("wait: the run is paused; run:resume() lets it go on");
  wait_until([this] { return is_over(); });
  tell_place();
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
void AsyncRun::wait_until(Done done) {
  expect_other_thread();
  Interruptible interruptible;
  StateLock::instance().unlock_until(done);
  if (done()) return;
  steps_ = 0;
  throw Interrupted("interrupted; the run goes on: run:stop() ends it");
}

void AsyncRun::work() {
  block_signals();
  const SignalsElsewhere elsewhere;
  StateLock& lock = StateLock::instance();
  for (bool over = false; !over; lock.unlock()) {
    lock.lock_in_background([this] { return state_ != State::paused || steps_ > 0; });
    if (!is_over()) advance();
    over = is_over();
  }
}

/// Processes one batch, and before it the work that is due first, such as the end of an epoch.
void AsyncRun::advance() {
  const auto begin = Clock::now();
  const auto body = [](lua_State*, const void* self) {
    static_cast<const AsyncRun*>(self)->run_->advance(1);
    return 0;
  };
  if (guarded(lua_, body, this) < 0) {
    error_ = text_of(lua_, -1);
    told_ = false;
    state_ = State::failed;
  } else if (run_->ended()) {
    state_ = State::ended;
  }
  lua_settop(lua_, 0);
  if (steps_ > 0) --steps_;
  seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The list is never destroyed, since the process may exit while runs continue.
std::vector<AsyncRunPtr>& async_runs() {
  static auto* runs = new std::vector<AsyncRunPtr>;
  return *runs;
}

void expect_not_in_training(const Model& model, const char* what) {
  for (const AsyncRunPtr& run : async_runs())
    if (!run->is_over() && &run->run().model() == &model && !run->is_own_thread())
      fail(what, ": model '", model.name(), "' is in training by fit_async (", place_of(run->run()),
           "): run:wait() until it has ended, or run:stop() it");
}

std::string place_of(const TrainingRun& run) {
  const int64_t epoch = std::min(run.epoch() + 1, std::max<int64_t>(run.epochs(), 1));
  return of_count(run.validating() ? "validation of epoch " : "epoch ", epoch, run.epochs()) +
         of_count(", batch ", run.batch(), run.batches());
}

}  // namespace crescent::lua

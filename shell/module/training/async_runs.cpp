// Runs of fit_async in Lua.
#include "training/async_runs.h"

#include <algorithm>
#include <chrono>

#include "lua/state_lock.h"
#include "training/async_run.h"
#include "training/given_model.h"
#include "training/model_training.h"
#include "training/report.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

using Clock = std::chrono::steady_clock;

const char* name_of(AsyncRun::State state) {
  constexpr const char* kNames[] = {"running", "paused", "ended", "failed"};
  return kNames[static_cast<size_t>(state)];
}

void forget_ended() {
  std::erase_if(async_runs(),
                [](const AsyncRunPtr& run) { return run->state() == AsyncRun::State::ended; });
}

/// A finalizer that runs when the Lua state is closed: ends the threads before the objects that
/// they use are destroyed.
extern "C" int crescent_abandon_runs(lua_State*) {
  for (const AsyncRunPtr& run : async_runs()) run->abandon();
  StateLock::instance().unlock();
  for (const AsyncRunPtr& run : async_runs()) run->join();
  StateLock::instance().lock();
  async_runs().clear();
  return 0;
}

// key in the registry: the value whose finalizer is crescent_abandon_runs
const char guard_key = 0;

void guard_state(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &guard_key) != LUA_TNIL) return lua_pop(L, 1);
  lua_pop(L, 1);
  lua_newuserdatauv(L, 0, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, crescent_abandon_runs);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &guard_key);
}

int fit_async(lua_State* L) {
  const auto model = self(L);
  expect_not_in_training(*model, "fit_async");
  if (StateLock::is_background()) fail("fit_async: a run cannot start another one");
  const auto run = std::make_shared<AsyncRun>(L, training_run_of(L, *model, true));
  guard_state(L);
  run->start();
  forget_ended();
  async_runs().push_back(run);
  push(L, run);
  return 1;
}

NamedValues logs_of(AsyncRun& run) { return run.run().logs(); }

}  // namespace

std::string status_text(AsyncRun& run) {
  std::string text = name_of(run.state());
  text += ", " + (run.state() == AsyncRun::State::ended ? concat("epoch ", run.run().epoch())
                                                        : place_of(run.run()));
  for (const auto& [name, value] : logs_of(run)) text += log_text(name, value);
  return run.error().empty() ? text : text + ": " + run.error();
}

namespace {

std::string run_title(AsyncRun& run) {
  run.tell_place();
  return "<run: " + status_text(run) + ">";
}

Value status_value(AsyncRun& run) {
  Dict logs;
  for (const auto& [name, value] : logs_of(run)) logs.set(name, value);
  const TrainingRun& of = run.run();
  Dict status{{"state", name_of(run.state())}, {"epoch", of.epoch()},
              {"epochs", of.epochs()},         {"batch", of.batch()},
              {"validating", of.validating()}, {"logs", std::move(logs)},
              {"seconds", run.seconds()}};
  if (of.batches() >= 0) status.set("batches", of.batches());
  if (!run.error().empty()) status.set("error", run.error());
  return status;
}

OnStack status(AsyncRun& run) {
  run.tell_place();
  StateLock::instance().yield();
  lua_State* L = current();
  run.tell_error();
  push_report(L, status_value(run), status_text(run));
  return {};
}

std::string state_of(AsyncRun& run) {
  StateLock::instance().yield();
  return name_of(run.state());
}

/// Waits until the run is over and returns its history; raises the error if the run failed.
std::shared_ptr<History> wait(AsyncRun& run) {
  if (!run.is_over()) run.wait();
  run.tell_error();
  if (run.state() == AsyncRun::State::failed) fail(run.error());
  return run.run().history();
}

void step(AsyncRun& run, int64_t batches) {
  if (batches < 0) fail("expected a number of batches, got ", batches);
  if (!run.is_over()) run.step(batches);
}

void pause(AsyncRun& run) {
  StateLock::instance().yield();
  run.pause();
}

void stop(AsyncRun& run) {
  if (!run.is_over()) run.stop();
}

ModelPtr model_of(AsyncRun& run) {
  return std::static_pointer_cast<Model>(run.run().model().shared_from_this());
}

TrainingRunPtr training_run(AsyncRun& run) { return run.shared_run(); }

/// Sleeps for some seconds while background runs continue.
void sleep_seconds(double seconds) {
  if (!(seconds >= 0)) fail("expected a number of seconds, got ", seconds);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(std::min(seconds, 1e9)));
  if (StateLock::is_background()) return std::this_thread::sleep_until(end);
  Interruptible interruptible;
  StateLock::instance().unlock_until([&] { return Clock::now() >= end; }, end);
  heed_interruption("the script slept");
}

}  // namespace

void add_async_runs(ObjectTypes& types, const Type& object) {
  add_type<AsyncRun>(types, "run", &object)
      .method("status -> a table with names", &status, {},
              "The state of the run as a table: state (\"running\", \"paused\", \"ended\", "
              "\"failed\"), epoch and batch (completed), logs, seconds, error.")
      .method("pause", &pause, {}, "Pauses the run after the current batch.")
      .method("step", &step, {"batches=1"}, "Trains for a number of batches and pauses.")
      .method("resume", &AsyncRun::resume, {}, "Continues a paused run.")
      .method("stop", &stop, {},
              "Ends the run after the current batch, as a callback does by stop_training.")
      .method("wait -> a history", &wait, {},
              "Waits for the end of the run; returns the history or raises the error of the run.")
      .property("state", &state_of, "\"running\", \"paused\", \"ended\" or \"failed\".")
      .property(
          "history", [](AsyncRun& run) { return run.run().history(); },
          "The history of the completed epochs.")
      .property("model", &model_of, "The model that is trained.")
      .property("training_run", &training_run,
                "The run in the form of start_training: to save it, to add callbacks, ...")
      .meta("__tostring", bound("tostring", &run_title, {"run"}));
}

const std::vector<CallablePtr>& async_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> all;
    all.push_back(bound("sleep", &sleep_seconds, {"seconds"},
                        "Waits; runs of fit_async continue meanwhile."));
    return all;
  }();
  return functions;
}

void add_fit_async(Type& model) {
  model.raw_method(
      "fit_async -> a run", fit_async,
      {"x: a tensor, a structure of them, or a dataset", "y: a tensor or a structure of them=nil"},
      "Trains in the background: takes what fit takes and returns a run at once. Training proceeds "
      "while the prompt waits for keys, and in scripts within run:wait(), cr.sleep() and other "
      "calls of the run; in between, the model can be inspected and its options changed. It shows "
      "no progress.",
      &schema<FitOptions>("fit"));
}

}  // namespace crescent::lua

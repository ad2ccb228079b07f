// Runs of fit_async in Lua.
#include "training/async_runs.h"

#include <algorithm>
#include <chrono>

#include "background/async_run.h"
#include "lua/state_lock.h"
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

void remove_ended_runs() {
  std::erase_if(async_runs(),
                [](const AsyncRunPtr& run) { return run->state() == AsyncRun::State::ended; });
}

/// Replaces os.exit, which is the first upvalue: waits until no step computes, since the end of the
/// process destroys objects that a step uses.
extern "C" int crescent_exit(lua_State* L) {
  StateLock::instance().await_computation_end();
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 0);
  return 0;
}

void wrap_os_exit(lua_State* L) {
  const StackRestorer restorer(L);
  if (lua_getglobal(L, "os") != LUA_TTABLE || lua_getfield(L, -1, "exit") != LUA_TFUNCTION) return;
  lua_pushcclosure(L, crescent_exit, 1);
  lua_setfield(L, -2, "exit");
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

// The key in the Lua registry of the value whose finalizer is crescent_abandon_runs.
const char finalizer_key = 0;

void abandon_runs_at_close(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &finalizer_key) != LUA_TNIL) return lua_pop(L, 1);
  lua_pop(L, 1);
  lua_newuserdatauv(L, 0, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, crescent_abandon_runs);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &finalizer_key);
  wrap_os_exit(L);
}

int fit_async(lua_State* L) {
  const auto model = self(L);
  expect_not_in_training(*model, "fit_async");
  if (StateLock::is_background()) fail("fit_async: a run cannot start another one");
  const auto run = std::make_shared<AsyncRun>(L, training_run_of(L, *model, true));
  abandon_runs_at_close(L);
  run->start();
  remove_ended_runs();
  async_runs().push_back(run);
  push(L, run);
  return 1;
}

}  // namespace

std::string status_text(const AsyncRun& run, const AsyncRun::Status& status) {
  const AsyncRun::State state = run.state();
  std::string text = name_of(state);
  text += ", " + (state == AsyncRun::State::ended ? concat("epoch ", status.epoch)
                                                  : position_text(status));
  for (const auto& [name, value] : status.logs) text += log_text(name, value);
  const std::string error = run.error();
  return error.empty() ? text : text + ": " + error;
}

namespace {

std::string run_title(AsyncRun& run) {
  const AsyncRun::Status run_status = run.status();
  run.mark_position_reported();
  return "<run: " + status_text(run, run_status) + ">";
}

Value status_value(const AsyncRun& run, const AsyncRun::Status& status) {
  Dict logs;
  for (const auto& [name, value] : status.logs) logs.set(name, value);
  Dict fields{{"state", name_of(run.state())},
              {"epoch", status.epoch},
              {"epochs", status.epochs},
              {"batch", status.batch},
              {"validating", status.is_validating},
              {"logs", std::move(logs)},
              {"seconds", status.seconds}};
  if (status.batches >= 0) fields.set("batches", status.batches);
  if (const std::string error = run.error(); !error.empty()) fields.set("error", error);
  return fields;
}

OnStack status(AsyncRun& run) {
  StateLock::instance().yield();
  const AsyncRun::Status run_status = run.status();
  run.mark_position_reported();
  run.mark_error_reported();
  push_report(current(), status_value(run, run_status), status_text(run, run_status));
  return {};
}

std::string state_of(AsyncRun& run) {
  StateLock::instance().yield();
  return name_of(run.state());
}

/// Waits until the run is over and returns its history; raises the error if the run failed.
std::shared_ptr<History> wait(AsyncRun& run) {
  if (!run.is_over()) run.wait();
  run.mark_error_reported();
  if (run.state() == AsyncRun::State::failed) fail(run.error());
  return run.run().history();
}

void step(AsyncRun& run, int64_t batch_count) {
  if (batch_count < 0) fail("expected a number of batches, got ", batch_count);
  if (!run.is_over()) run.step(batch_count);
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

void add_async_runs(ObjectTypes& types, const HandleType& object) {
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
    std::vector<CallablePtr> callables;
    callables.push_back(bound("sleep", &sleep_seconds, {"seconds"},
                              "Waits; runs of fit_async continue meanwhile."));
    return callables;
  }();
  return functions;
}

void add_fit_async(HandleType& model) {
  model.raw_method(
      "fit_async -> a run", fit_async,
      {"x: a tensor, a structure of them, or a dataset", "y: a tensor or a structure of them=nil"},
      "Trains in the background: takes what fit takes and returns a run at once. Training proceeds "
      "while the prompt waits for keys, and in scripts within run:wait(), cr.sleep() and other "
      "calls of the run. The model can be inspected and its options changed between two batches; "
      "code that does not use the model need not wait for the end of a batch. It shows no "
      "progress.",
      &schema<FitOptions>("fit"));
}

}  // namespace crescent::lua

#include "training/training_runs.h"

#include "crescent/model/training_run.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

/// The opaque result of run:snapshot(), which run:restore() takes.
class Snapshot final : public Object {
 public:
  explicit Snapshot(Value value) : value(std::move(value)) {}
  std::string class_name() const override { return "Snapshot"; }
  const Value value;
};

int64_t advance(TrainingRun& run, int64_t batch_count) {
  if (batch_count < 0) fail("expected a number of batches, got ", batch_count);
  Interruptible interruptible;
  return run.advance(batch_count);
}

std::shared_ptr<History> go_to_end(TrainingRun& run) {
  Interruptible interruptible;
  return run.finish();
}

std::shared_ptr<Object> snapshot(TrainingRun& run) {
  return std::make_shared<Snapshot>(run.snapshot());
}

/// The state to restore: that of the given snapshot or, without an argument, the state in the
/// model's file.
Value state_from(const TrainingRun& run, Any snapshot_argument) {
  lua_State* L = current();
  if (lua_isnil(L, snapshot_argument.index)) return run.model().run_state();
  const auto source = object_as<Snapshot>(L, snapshot_argument.index);
  if (!source)
    fail_expected(L, snapshot_argument.index, "a snapshot; files are read by run:load(path)");
  return source->value;
}

/// Returns the run on which a method was called, so that calls can be chained.
OnStack run_itself() {
  lua_pushvalue(current(), 1);
  return {};
}

OnStack restore(TrainingRun& run, Any snapshot_argument) {
  Interruptible interruptible;
  run.restore(state_from(run, snapshot_argument));
  return run_itself();
}

OnStack load_run(TrainingRun& run, const std::string& path) {
  Interruptible interruptible;
  run.load(path);
  return run_itself();
}

OnStack logs(TrainingRun& run) {
  lua_State* L = current();
  lua_newtable(L);
  for (const auto& [name, value] : run.logs()) {
    push_float(L, value);
    lua_setfield(L, -2, name.c_str());
  }
  return {};
}

std::string total_text(int64_t count) { return count < 0 ? "" : concat(" of ", count); }

/// The text <training run: epoch 2 of 3, batch 5 of 63>; epochs count from 1 as in the progress
/// bar.
std::string run_text(TrainingRun& run) {
  if (run.ended()) return concat("<training run: ended after epoch ", run.epoch(), ">");
  return concat("<training run: ", run.validating() ? "validation of " : "", "epoch ",
                run.epoch() + 1, total_text(run.epochs()), ", batch ", run.batch(),
                total_text(run.batches()), ">");
}

ModelPtr model_of(TrainingRun& run) {
  return std::static_pointer_cast<Model>(run.model().shared_from_this());
}

std::optional<int64_t> batches_of(TrainingRun& run) {
  return run.batches() < 0 ? std::nullopt : std::optional(run.batches());
}

}  // namespace

void add_run_types(ObjectTypes& types, const HandleType& object) {
  HandleType& run = add_type<TrainingRun>(types, "training run", &object);
  run.method("advance", &advance, {"batches=1"},
             "Trains for up to this many batches, including those of validations; returns their "
             "number, which is smaller if the run ended or was paused.")
      .method("finish", &go_to_end, {},
              "Trains until the run ends or is paused; returns the history. After Ctrl-C it can be "
              "called again.")
      .method("pause", &TrainingRun::pause, {},
              "Called by callbacks: makes advance and finish return after the current batch.")
      .method("stop", &TrainingRun::stop, {},
              "Ends the run after the current batch, as a callback does by stop_training.")
      .method("snapshot -> a snapshot", &snapshot, {},
              "The complete state of the run, for restore.")
      .method("restore -> the training run", &restore, {"snapshot: a snapshot=nil"},
              "Restores the state of a snapshot or, without one, of the run that the model's file "
              "was saved in; returns the run.")
      .method("save", &TrainingRun::save, {"path: a path"}, "Writes a snapshot to a file.")
      .method("load -> the training run", &load_run, {"path"},
              "Restores the state from a file written by save; returns the run.")
      .method("add_callback", &TrainingRun::add_callback, {"callback"},
              "Adds a callback from now on.")
      .method("remove_callback", &TrainingRun::remove_callback, {"callback"}, "Removes a callback.")
      .property("epoch", &TrainingRun::epoch, "The number of the current epoch, from 0.")
      .property("batch", &TrainingRun::batch, "Number of completed batches of the epoch.")
      .property("batches", &batches_of, "Number of batches per epoch, if known.")
      .property("epochs", &TrainingRun::epochs, &TrainingRun::set_epochs,
                "The epoch at which the run ends.")
      .property("validating", &TrainingRun::validating, "Whether the run is in a validation.")
      .property("ended", &TrainingRun::ended, "Whether the run has ended.")
      .property("logs", &logs, "The loss and metrics so far.")
      .property("history", &TrainingRun::history, "The history of the completed epochs.")
      .property("model", &model_of, "The model that is trained.")
      .property("callbacks", &TrainingRun::callbacks, "The callbacks of the run.")
      .meta("__tostring", bound("tostring", &run_text, {"run"}));
  add_type<Snapshot>(types, "snapshot", &object);
}

}  // namespace crescent::lua

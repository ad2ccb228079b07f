// A training run: epochs of batches, validation, callbacks. At the end of an epoch, the next phase
// is set before the hook on_epoch_end is called, so that a run that is restored from a snapshot
// taken in this hook continues with the next epoch.
#include "crescent/model/training_run.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <unordered_map>

#include "system/operation.h"
#include "system/replay_task.h"
#include "training/input/run_limits.h"
#include "training/input/start_together.h"
#include "training/metrics_scope.h"
#include "training/run_state.h"
#include "training/sharing/shared_step.h"
#include "training/watch/nan_location.h"
#include "training/watch/step_watch.h"

namespace crescent {
namespace {

bool is_validation_epoch(const Value& validation_freq, int64_t epoch) {
  if (validation_freq.is_list()) {
    const List& epochs = validation_freq.as_list();
    return std::any_of(epochs.begin(), epochs.end(),
                       [&](const Value& e) { return e.as_int() == epoch + 1; });
  }
  const int64_t interval = validation_freq.as_int();
  if (interval < 1) fail("`validation_freq` can not be less than 1.");
  return (epoch + 1) % interval == 0;
}

/// The callback that saves the run to the file that the option `resume` names; null if it names
/// none.
CallbackPtr saving_callback(const Value& resume) {
  if (resume.is_bool()) return nullptr;
  const std::filesystem::path file = resume.is_string() ? resume.as_string() : "";
  if (!file.has_filename())
    fail("fit: option 'resume': expected true, false or the path of a file, got ", resume);
  const std::string folder = file.parent_path().string();
  return make<Callback>(kRunSaverClass, {{"backup_dir", folder.empty() ? "." : folder},
                                         {"file_name", file.filename().string()}});
}

constexpr const char* kSameOnEachProcess =
    "All processes get the same model, data and options, of which each takes its share; with "
    "auto_shard_dataset = false, data of their own with as many batches";

/// The properties that must be equal in all processes that share batches, by name.
Dict shared_properties(Model& model, const FitOptions& options, const Dict& params) {
  List layers;
  for (const Layer* layer : model.flatten_layers()) layers.push_back(layer->class_name());
  Dict shapes;
  for (const Variable& v : model.weights()) shapes.set(v.path(), to_text(v.shape()));
  const auto optimizer = model.optimizer();
  return {{"version", CRESCENT_VERSION},
          {"layers", std::move(layers)},
          {"shapes of weights", std::move(shapes)},
          {"optimizer", optimizer ? optimizer->class_name() : ""},
          {"number of samples", params.at("samples")},
          {"number of batches", params.at("steps")},
          {"batch_size", shards_data() ? params.at("batch_size") : Value()},
          {"validation", params.at("do_validation")},
          {"validation_freq", options.validation_freq},
          {"shuffle", options.shuffle},
          {"initial_epoch", options.initial_epoch},
          {"epochs", options.epochs}};
}

/// The processes that train together. With the option nan = "locate", each process reads whole
/// batches: to find where a NaN or an infinity originates, a process computes a whole batch again.
ProcessGroup group_of(Model& model, const FitOptions& options) {
  ProcessGroup group = group_for(model, "fit", ProcessGroup::current());
  if (options.nan == "locate") group.read_all_inputs();
  return group;
}

bool is_unfinished(const Value& state) {
  return state.is_dict() && state.as_dict().contains("version");
}

}  // namespace

TrainingRun::State::State(ModelPtr run_model, FitOptions fit_options, const RunPlan& plan)
    : model(std::move(run_model)),
      model_state(ModelAccess::training(*model)),
      options(std::move(fit_options)),
      callbacks(options.callbacks, verbosity(options.verbose)),
      group(group_of(*model, options)),
      training_pass(Batches("fit", plan.data, options.steps_per_epoch, true, group),
                    Pass::training_step(*model, extras(), group)),
      validation_pass(Batches("evaluate", plan.validation, options.validation_steps, false, group),
                      Pass::testing_step(*model)),
      epoch(options.initial_epoch) {
  options.epochs = limited_epochs(options.epochs);
  if (options.inference_metrics && model->stateful())
    fail("fit: inference_metrics: a stateful model would go through each batch twice");
  auto history_callback = make<Callback>("History");
  history = std::dynamic_pointer_cast<History>(history_callback);
  callbacks.add(std::move(history_callback));
  if (CallbackPtr run_saver = saving_callback(options.resume)) callbacks.add(std::move(run_saver));
  params.set("batch_size", plan.batch_size);
  params.set("steps", steps_or_null(training_pass.batches().count()));
  params.set("samples", steps_or_null(training_pass.batches().samples()));
  params.set("verbose", verbosity(options.verbose));
  params.set("do_validation", static_cast<bool>(validation_pass));
  params.set("metrics", model->metrics_names());
  pass_params_to_callbacks();
}

void TrainingRun::State::pass_params_to_callbacks() {
  params.set("epochs", options.epochs);
  callbacks.attach(model.get(), params);
}

void TrainingRun::State::make_current(const TrainingRunPtr& self) {
  if (model_state.runs.current_run.lock() == self) return;
  replaced_run = std::exchange(model_state.runs.current_run, self);
}

bool TrainingRun::State::advance() {
  while (phase != Phase::ended)
    if (run_phase()) return true;
  return false;
}

/// Executes the current phase; returns true if the phase processed a batch.
bool TrainingRun::State::run_phase() {
  switch (phase) {
    case Phase::start:
      return start(), false;
    case Phase::epoch:
      return epoch >= options.epochs || is_out_of_data || should_stop() ? finish_normally()
                                                                        : begin_epoch(),
             false;
    case Phase::training:
      return train_batch() || (end_training(), false);
    case Phase::validation:
      return begin_validation(), false;
    case Phase::validating:
      return validation_pass.advance(callbacks) || (end_validation(), false);
    case Phase::ended:
      break;
  }
  return false;
}

/// Whether a callback or another thread, in this or another process, asked the run to stop.
bool TrainingRun::State::should_stop() {
  if (is_stop_requested && is_stop_requested.exchange(false)) model->stop_training = true;
  if (group.any_process(model->stop_training)) model->stop_training = true;
  return model->stop_training;
}

void TrainingRun::State::start() {
  if (group.shares_batches()) {
    expect_equal(group, shared_properties(*model, options, params), kSameOnEachProcess);
    copy_from_rank_0(group, {model_state.runs.shuffle_order.state()});
  }
  try_resume();
  if (group.shares_batches())
    expect_equal(group, {{"the place from which to resume", progress_text()}}, kSameOnEachProcess);
  if (phase == Phase::start) begin();
}

/// Restores an earlier run if the option `resume` is set, or if a callback has saved a run.
void TrainingRun::State::try_resume() {
  if (try_replay()) return;
  const TrainingRunPtr self = model_state.runs.current_run.lock();
  if (options.resume == Value(true) && is_unfinished(model_state.runs.last_state))
    return restore(Value(model_state.runs.last_state).as_dict());
  for (const CallbackPtr& callback : std::vector(callbacks.all()))
    if (phase == Phase::start && callback->class_name() != kReplayRecorder)
      blaming(*callback, [&] { callback->try_resume(*self); });
}

void TrainingRun::State::begin() {
  model_state.runs.history = history;
  const Value loaded_state = std::exchange(model_state.runs.last_state, Value());
  model->stop_training = false;
  callbacks.call_hooks(&Callback::on_train_begin, Logs());
  if (std::exchange(model_state.runs.last_state_is_loaded, false) && loaded_state.is_dict())
    callbacks.set_states(loaded_state.as_dict().at("callbacks"));
  phase = Phase::epoch;
}

void TrainingRun::State::begin_epoch() {
  if (group.any_process(interrupted())) {
    interrupt();  // callbacks of all processes must see the interruption
    throw Interrupted("fit: interrupted");
  }
  callbacks.call_hooks(&Callback::on_epoch_begin, epoch, Logs());
  model->reset_metrics();
  training_pass.begin();
  phase = Phase::training;
}

StepExtras TrainingRun::State::extras() const {
  const std::vector<std::string> watched_names =
      names_in_option("fit: option 'watch'", options.watch);
  const auto is_watched = [&](const char* name) {
    return std::find(watched_names.begin(), watched_names.end(), name) != watched_names.end();
  };
  for (const std::string& name : watched_names)
    if (name != "gradients" && name != "weights")
      fail("fit: option 'watch': expected \"gradients\" or \"weights\", got \"", name, "\"");
  return {options.inference_metrics, options.nan.has_value(), is_watched("gradients"),
          is_watched("weights")};
}

/// Trains on the next batch; returns false if the data are exhausted or a callback ends the epoch.
bool TrainingRun::State::train_batch() {
  if (training_pass.batches().batches_done() > 0 && should_stop()) return false;
  try {
    return training_pass.advance(callbacks);
  } catch (const NotFinite&) {
    return handle_nan(), false;
  }
}

/// Handles a loss or gradient that is not finite. Ends the run or, with the option nan = "locate",
/// fails with a message that says where the value originates.
void TrainingRun::State::handle_nan() {
  Batches& batches = training_pass.batches();
  const std::string step_text =
      concat("fit: batch ", batches.batches_done() + 1, " of epoch ", epoch + 1);
  if (options.nan == "locate")
    fail(step_text, ": ", locate_nan(*model, batches.last_batch(), batches.last_rows()),
         "\n  The weights are as they were before this batch.");
  warn(step_text,
       ": the loss or a gradient is not finite; training ends with the weights as they were before "
       "this batch");
  model->stop_training = true;
  batches.mark_done();
}

void TrainingRun::State::end_training() {
  if (training_pass.batches().batches_done() == 0) return end_without_data();
  should_stop();
  validated_epoch_logs = Logs();
  add_results(validated_epoch_logs, "");
  restored_results = Logs();
  if (is_validated())
    phase = Phase::validation;
  else
    end_epoch();
}

bool TrainingRun::State::is_validated() const {
  return validation_pass && is_validation_epoch(options.validation_freq, epoch);
}

void TrainingRun::State::begin_validation() {
  begin_testing(*model, validation_pass, callbacks);
  phase = Phase::validating;
}

void TrainingRun::State::end_validation() {
  end_testing(*model, validation_pass, callbacks);
  add_results(validated_epoch_logs, "val_");
  restored_results = Logs();
  end_epoch();
}

void TrainingRun::State::end_epoch() {
  ++model_state.runs.epochs_trained;
  phase = Phase::epoch;
  last_epoch_logs = std::exchange(validated_epoch_logs, Logs());
  callbacks.call_hooks(&Callback::on_epoch_end, epoch++, last_epoch_logs);
}

void TrainingRun::State::end_without_data() {
  if (epoch == options.initial_epoch) fail("fit: the data gave no batch");
  warn("fit: the data gave no batch in epoch ", epoch + 1, " of ", options.epochs,
       "; training ends. A generator is asked again in each epoch and must start over");
  is_out_of_data = true;
  phase = Phase::epoch;
}

/// Ends a run that was not stopped early. If the optimizer computes moving averages of the weights,
/// they replace the weights, as in Keras.
void TrainingRun::State::finish_normally() {
  replace_weights_by_averages();
  end();
}

void TrainingRun::State::replace_weights_by_averages() const {
  if (!model_state.spec.optimizer || options.epochs == 0) return;
  const StepLock lock(*model);
  for (const auto& [weight, average] : model_state.spec.optimizer->pairs_with("average"))
    weight.assign(average.value().clone());
}

void TrainingRun::State::end() {
  model_state.runs.last_state =
      model->stop_training ? Value() : Value(Dict{{"callbacks", callbacks.states()}});
  phase = Phase::ended;
  callbacks.call_hooks(&Callback::on_train_end, last_epoch_logs);
  model_state.runs.current_run = replaced_run;
}

void TrainingRun::State::end_early() {
  Value run_progress = remaining_progress();
  end_phase = phase == Phase::ended ? end_phase : phase;
  end();
  model_state.runs.last_state = std::move(run_progress);
}

bool TrainingRun::State::has_results() const {
  return (phase == Phase::training || phase == Phase::validating) &&
         pass().batches().batches_done() > 0;
}

/// The results of the last step, which another process may have computed. Logs that a train_step of
/// the model returned are not in variables, so a snapshot contains them.
NamedValues TrainingRun::State::results() const {
  const bool is_restored = !restored_results.values().empty() &&
                           pass().batches().batches_done() == restored_batches_done;
  return is_restored ? restored_results.values() : Stepper(*model).results();
}

void TrainingRun::State::add_results(Logs& logs, const std::string& prefix) const {
  for (const auto& [name, value] : results()) logs.set(prefix + name, value);
}

NamedValues TrainingRun::State::logs() const {
  if (phase == Phase::training) return has_results() ? results() : NamedValues();
  if (!in_validation()) return last_epoch_logs.values();
  Logs logs = validated_epoch_logs;
  if (has_results()) add_results(logs, "val_");
  return logs.values();
}

std::string TrainingRun::State::progress_text() const {
  const int64_t batches_done = training_pass.batches().batches_done(),
                count = training_pass.batches().count();
  const bool is_between_epochs = phase == Phase::epoch && epoch > options.initial_epoch;
  const std::string epoch_text =
      concat("epoch ", is_between_epochs ? epoch : epoch + 1, " of ", options.epochs);
  if (in_validation()) return "in the validation of " + epoch_text;
  if (phase != Phase::training && !is_between_epochs) return "before the first batch";
  if (batches_done == 0)
    return epoch > options.initial_epoch ? concat("after epoch ", epoch, " of ", options.epochs)
                                         : "before the first batch of " + epoch_text;
  return concat("after batch ", batches_done, count >= 0 ? concat(" of ", count) : "", " in ",
                epoch_text);
}

// ---- TrainingRun

TrainingRun::TrainingRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
TrainingRun::~TrainingRun() = default;

int64_t TrainingRun::advance(int64_t batches) {
  const LongOperation operation;
  const MetricsScope metrics_scope(*state_->model, "fit");
  const auto self = std::static_pointer_cast<TrainingRun>(shared_from_this());
  state_->make_current(self);
  int64_t step_count = 0;
  state_->group.run_collective([&] {
    while (step_count < batches && state_->advance()) {
      ++step_count;
      if (state_->is_pause_requested && state_->is_pause_requested.exchange(false)) break;
    }
  });
  return step_count;
}

std::shared_ptr<History> TrainingRun::finish() {
  advance(std::numeric_limits<int64_t>::max());
  return state_->history;
}

void TrainingRun::pause() { state_->is_pause_requested = true; }
void TrainingRun::stop() { state_->is_stop_requested = true; }

int64_t TrainingRun::epoch() const { return state_->epoch; }
int64_t TrainingRun::batch() const {
  const bool is_within_epoch =
      state_->phase == State::Phase::training || state_->phase == State::Phase::validating;
  return is_within_epoch ? state_->pass().batches().batches_done() : 0;
}
int64_t TrainingRun::batches() const { return state_->pass().batches().count(); }
int64_t TrainingRun::epochs() const { return state_->options.epochs; }
bool TrainingRun::validating() const { return state_->in_validation(); }
bool TrainingRun::ended() const { return state_->phase == State::Phase::ended; }
NamedValues TrainingRun::logs() const { return state_->logs(); }
std::shared_ptr<History> TrainingRun::history() const { return state_->history; }
Model& TrainingRun::model() const { return *state_->model; }
std::vector<CallbackPtr> TrainingRun::callbacks() const { return state_->callbacks.all(); }

void TrainingRun::set_epochs(int64_t epochs) {
  if (epochs < 0) fail("epochs: expected 0 or more, got ", epochs);
  state_->options.epochs = epochs;
  state_->epochs_were_set = true;
  state_->pass_params_to_callbacks();
}

void TrainingRun::add_callback(const CallbackPtr& callback) {
  if (!callback) fail("add_callback: expected a callback, got none");
  state_->callbacks.add(callback);
  state_->pass_params_to_callbacks();
  if (state_->phase != State::Phase::start) callback->on_train_begin(Logs());
}

void TrainingRun::remove_callback(const CallbackPtr& callback) {
  if (!state_->callbacks.remove(callback))
    fail("remove_callback: the run has no such callback; it has ", state_->callbacks.all().size());
}

}  // namespace crescent

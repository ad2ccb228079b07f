// Snapshots of training runs: all state on which the bits of the following batches depend.
#include <algorithm>
#include <array>

#include "system/replay_task.h"
#include "training/run_state.h"
#include "training/variable_groups.h"

namespace crescent {
namespace {

using Phase = TrainingRun::State::Phase;

constexpr int64_t kSnapshotVersion = 2;
constexpr const char *kBatch = "batch", *kValidationBatch = "validation_batch";
/// The names of State::Phase in snapshots. For a run that has ended, the phase in which it ended is
/// saved.
constexpr std::array kPhases = {"start", "epoch", "training", "validation", "validating"};

Dict values_of(const std::vector<VariableGroup>& groups) {
  Dict values;
  for (const VariableGroup& group : groups) {
    List tensors;
    for (const Variable& variable : group.variables)
      tensors.push_back(std::make_shared<BoxedTensor>(variable.value()));
    values.set(group.name, std::move(tensors));
  }
  return values;
}

using Assignments = std::vector<std::pair<Variable, Tensor>>;

/// Appends to `assignments` the assignment of each tensor in `values` to its variable in the
/// groups. Fails if the tensors belong to another model.
void plan_assignments(Assignments& assignments, const std::vector<VariableGroup>& groups,
                      const Dict& values) {
  for (const VariableGroup& group : groups) {
    const List& tensors = values.at(group.name).as_list();
    if (tensors.size() != group.variables.size())
      fail("restore: the model has ", group.variables.size(), " variables of '", group.name,
           "', the snapshot has ", tensors.size(), ": it is of another model");
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Variable& variable = group.variables[i];
      const auto boxed = tensors[i].object_as<BoxedTensor>();
      if (!boxed) fail("restore: expected tensors of '", group.name, "', got ", tensors[i]);
      if (boxed->tensor.spec() != variable.spec())
        fail("restore: variable '", variable.path(), "' is ", variable.dtype(), variable.shape(),
             ", in the snapshot ", boxed->tensor.dtype(), boxed->tensor.shape(),
             ": it is of another model");
      assignments.emplace_back(variable, boxed->tensor);
    }
  }
}

List pairs_of(const NamedValues& values) {
  List pairs;
  for (const auto& [name, value] : values) pairs.push_back(List{name, value});
  return pairs;
}

Logs logs_of(const Value& pairs) {
  Logs logs;
  for (const Value& pair : pairs.as_list())
    logs.set(pair.as_list().at(0).as_string(), pair.as_list().at(1).as_float());
  return logs;
}

/// Whether the snapshot has as many values as the groups have variables.
bool is_complete(const std::vector<VariableGroup>& groups, const Dict& values) {
  return std::all_of(groups.begin(), groups.end(), [&](const VariableGroup& group) {
    return values.at(group.name).as_list().size() == group.variables.size();
  });
}

/// Whether the model has all variables of the snapshot.
bool is_complete(Model& model, const Dict& snapshot) {
  const Value* variables = snapshot.find("variables");
  return is_complete(groups_of_run(model), snapshot) &&
         (!variables || is_complete(groups_of_model(model), variables->as_dict()));
}

Value encoded_batch_specs(const std::optional<BatchSpecs>& batch) {
  return batch ? Value(batch->encoded()) : Value();
}

std::optional<BatchSpecs> batch_specs(const Dict& snapshot, const char* name) {
  const Value* batch = snapshot.find(name);
  return batch && batch->is_dict() ? std::optional<BatchSpecs>(batch->as_dict()) : std::nullopt;
}

/// The specs of the inputs of training. Snapshots of version 1 contain no other specs.
TensorSpecs input_specs(const Dict& snapshot) {
  if (const Value* inputs = snapshot.find("inputs")) return tensor_specs(*inputs);
  const auto batch = batch_specs(snapshot, kBatch);
  return batch ? batch->x : TensorSpecs();
}

Phase phase_of(const Value& name) {
  const auto matching_name = std::find(kPhases.begin(), kPhases.end(), name.as_string());
  if (matching_name == kPhases.end()) fail("restore: a run has no phase ", name);
  return static_cast<Phase>(matching_name - kPhases.begin());
}

void check_version(const Dict& snapshot) {
  const Value* version = snapshot.find("version");
  if (!version || !version->is_int())
    fail("restore: expected the snapshot of an unfinished training run, got ", Value(snapshot));
  if (version->as_int() < 1 || version->as_int() > kSnapshotVersion)
    fail("restore: the snapshot is of version ", *version, ", expected 1 to ", kSnapshotVersion);
}

}  // namespace

/// Returns the position of the run and the states of its callbacks.
Dict TrainingRun::State::progress() const {
  const bool should_stop = model->stop_training || is_stop_requested;
  Dict result{
      {"callbacks", callbacks.states()},
      {"version", kSnapshotVersion},
      {"phase", kPhases[static_cast<size_t>(phase == Phase::ended ? end_phase : phase)]},
      {"epoch", epoch},
      {"epochs_trained", model_state.runs.epochs_trained},
      {"stop_training", should_stop},
      {"out_of_data", is_out_of_data},
      {"results", has_results() ? pairs_of(results()) : List()},
      {"running", pairs_of(validated_epoch_logs.values())},
      {"last", pairs_of(last_epoch_logs.values())},
      {"history", history->record()},
      {"data", training_pass.batches().position()},
      {"validation", validation_pass ? Value(validation_pass.batches().position()) : Value()},
      {kBatch, encoded_batch_specs(training_batch_specs())},
      {kValidationBatch, encoded_batch_specs(validation_batch_specs())}};
  if (epochs_were_set) result.set("epochs", options.epochs);
  for (const DictEntry& group : values_of(groups_of_run(*model)))
    result.set(group.key, group.value);
  return result;
}

Value TrainingRun::State::remaining_progress() const {
  return model->stop_training ? Value() : progress();
}

Dict TrainingRun::State::snapshot() const {
  Dict result = progress();
  result.set("variables", values_of(groups_of_model(*model)));
  return result;
}

/// The specs of the batch for which the variables of the training step were made. A batch that was
/// fetched before any step has run does not count, because the snapshot then contains no variables
/// of a step.
std::optional<BatchSpecs> TrainingRun::State::training_batch_specs() const {
  const bool has_variables =
      training_pass.batches().any_done() || (model->optimizer() && model->optimizer()->built());
  const auto current_specs = has_variables ? training_pass.batches().specs() : std::nullopt;
  return current_specs ? current_specs : restored_batch_specs;
}

std::optional<BatchSpecs> TrainingRun::State::validation_batch_specs() const {
  const auto current_specs =
      validation_pass.batches().any_done() ? validation_pass.batches().specs() : std::nullopt;
  return current_specs ? current_specs : restored_validation_batch_specs;
}

/// Creates the variables that the snapshot contains and the model lacks. Some variables are
/// normally created by the first step, such as those of a metric that needs the shapes of the
/// targets.
void TrainingRun::State::create_variables_of(const Dict& snapshot_dict) {
  Tensors x;
  for (const TensorSpec& spec : input_specs(snapshot_dict)) x.push_back(Tensor::abstract(spec));
  if (!x.empty()) Stepper(*model).prepare(x);
  for (const bool is_training : {true, false})
    if (const auto batch = batch_specs(snapshot_dict, is_training ? kBatch : kValidationBatch);
        batch && !is_complete(*model, snapshot_dict))
      create_step_variables(*batch, is_training);
}

void TrainingRun::State::create_step_variables(const BatchSpecs& batch, bool is_training) const {
  const int64_t rows = batch.x.front().shape.rank() > 0 ? batch.x.front().shape[0] : 0;
  StepExtras step_extras = is_training ? extras() : StepExtras();
  step_extras.share = rows > 0 ? group.share(rows) : Share();
  Stepper(*model).create_step_variables(batch.abstract_batch(step_extras.share), is_training,
                                        step_extras);
}

void TrainingRun::State::restore(const Dict& snapshot_dict) {
  check_version(snapshot_dict);
  check_callback_states(snapshot_dict.at("callbacks"));
  const Phase stored_phase = phase_of(snapshot_dict.at("phase"));
  const Value& validation = snapshot_dict.at("validation");
  if (validation.is_null() == static_cast<bool>(validation_pass))
    fail("restore: the snapshot was taken ", validation.is_null() ? "without" : "with",
         " validation data, this run is ", validation_pass ? "with" : "without", " it");
  create_variables_of(snapshot_dict);
  Assignments assignments;
  plan_assignments(assignments, groups_of_run(*model), snapshot_dict);
  if (const Value* variables = snapshot_dict.find("variables"))
    plan_assignments(assignments, groups_of_model(*model), variables->as_dict());

  if (const Value* epochs = snapshot_dict.find("epochs")) {
    options.epochs = epochs->as_int();
    epochs_were_set = true;
    pass_params_to_callbacks();
  }
  training_pass.batches().restore(snapshot_dict.at("data").as_dict());
  if (validation_pass) validation_pass.batches().restore(validation.as_dict());
  epoch = snapshot_dict.at("epoch").as_int();
  resume_at(stored_phase);
  for (const auto& [variable, value] : assignments) variable.assign(value);
  restored_batch_specs = batch_specs(snapshot_dict, kBatch);
  restored_validation_batch_specs = batch_specs(snapshot_dict, kValidationBatch);
  is_out_of_data = snapshot_dict.at("out_of_data").as_bool();
  validated_epoch_logs = logs_of(snapshot_dict.at("running"));
  last_epoch_logs = logs_of(snapshot_dict.at("last"));
  history->set_record(snapshot_dict.at("history").as_dict());
  callbacks.set_states(snapshot_dict.at("callbacks"));
  model_state.runs.epochs_trained = snapshot_dict.at("epochs_trained").as_int();
  model->stop_training = snapshot_dict.at("stop_training").as_bool();
  phase = stored_phase;
  if (const Value* results = snapshot_dict.find("results")) restored_results = logs_of(*results);
  restored_batches_done = pass().batches().batches_done();
}

bool TrainingRun::State::try_replay() {
  if (!replay_task()) return false;
  is_replayed = false;
  const TrainingRunPtr self = model_state.runs.current_run.lock();
  for (const CallbackPtr& callback : std::vector(callbacks.all()))
    if (callback->class_name() == kReplayRecorder) callback->try_resume(*self);
  return is_replayed;
}

/// Resumes the run at this phase: first calls the hooks that precede the phase, such as
/// on_train_begin, once each.
void TrainingRun::State::resume_at(Phase resumed_phase) {
  phase = Phase::start;
  is_stop_requested = false;
  model_state.runs.last_state_is_loaded = false;
  if (resumed_phase == Phase::start) return;
  begin();
  if (resumed_phase == Phase::epoch) return;
  callbacks.call_hooks(&Callback::on_epoch_begin, epoch, Logs());
  if (resumed_phase == Phase::validating) callbacks.call_hooks(&Callback::on_test_begin, Logs());
}

// ---- TrainingRun

Value TrainingRun::snapshot() const { return state_->snapshot(); }

void TrainingRun::restore(const Value& snapshot) {
  if (!snapshot.is_dict()) fail("restore: expected a snapshot of a training run, got ", snapshot);
  const InterruptScope interrupt_scope;
  state_->make_current(std::static_pointer_cast<TrainingRun>(shared_from_this()));
  if (!state_->try_replay()) state_->restore(snapshot.as_dict());
}

}  // namespace crescent

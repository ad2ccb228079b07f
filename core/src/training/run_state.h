// The state of a training run and its transitions from batch to batch.
#pragma once
#include <atomic>

#include "crescent/model/training_run.h"
#include "training/pass.h"

namespace crescent {

/// The data of a training run.
struct RunPlan {
  DatasetPtr data, validation;
  Value batch_size;  ///< passed to callbacks in params; null if unknown
};

struct TrainingRun::State {
  /// What run_phase() does next. In the order of the enumerators: call on_train_begin, begin an
  /// epoch, train on a batch, begin a validation, validate a batch, nothing.
  enum class Phase { start, epoch, training, validation, validating, ended };

  State(ModelPtr model, FitOptions options, const RunPlan& plan);
  /// Advances the run to the end of the next batch; returns false if the run has ended.
  bool advance();
  void end();
  /// Ends the run in the middle of an epoch. The epoch is not in the history, unless a later run
  /// resumes this one.
  void end_early();
  /// Makes this run the current run of the model. A saved model contains the state of its current
  /// run.
  void make_current(const TrainingRunPtr& self);
  void pass_params_to_callbacks();

  const Pass& pass() const { return in_validation() ? validation_pass : training_pass; }
  bool in_validation() const { return phase == Phase::validation || phase == Phase::validating; }
  NamedValues logs() const;
  /// The position in the run as text: "after batch 3 of 10 in epoch 2 of 5".
  std::string progress_text() const;

  // The following functions are defined in snapshot.cpp.
  Dict snapshot() const;
  /// The snapshot without the variables of the model; null if a callback stopped the run.
  Value remaining_progress() const;
  void restore(const Dict& snapshot);
  /// In a process that replays a step of this run, the callback ReplayRecorder restores the run
  /// from its record, even if the option `resume` of fit is false. Returns whether it has.
  bool try_replay();

  ModelPtr model;
  ModelAccess::Training& model_state;
  FitOptions options;
  Dict params;
  CallbackList callbacks;
  std::shared_ptr<History> history;
  ProcessGroup group;
  Pass training_pass, validation_pass;
  Phase phase = Phase::start;
  Phase end_phase = Phase::epoch;  ///< the phase in which the run ended, if it has ended
  int64_t epoch;                   // number of the current epoch, from 0
  /// Whether set_epochs() has changed options.epochs, so that snapshots contain it.
  bool epochs_were_set = false;
  bool is_out_of_data = false;
  bool is_replayed = false;   ///< whether ReplayRecorder has restored the run from its record
  Logs validated_epoch_logs;  // logs of the epoch that is being validated
  Logs last_epoch_logs;
  // If the run was restored: the results of the last step before the snapshot was taken, and how
  // many batches of the epoch or validation were done then.
  Logs restored_results;
  int64_t restored_batches_done = 0;
  /// The specs of the batches of training and of validation that the restored snapshot contains.
  std::optional<BatchSpecs> restored_batch_specs, restored_validation_batch_specs;
  std::weak_ptr<TrainingRun> replaced_run;  // the current run of the model before this one
  std::atomic<bool> is_pause_requested = false, is_stop_requested = false;

 private:
  Dict progress() const;
  std::optional<BatchSpecs> training_batch_specs() const;
  std::optional<BatchSpecs> validation_batch_specs() const;
  void create_variables_of(const Dict& snapshot);
  void create_step_variables(const BatchSpecs& batch_specs, bool is_training) const;
  void resume_at(Phase resumed_phase);
  bool run_phase();
  bool should_stop();
  void start();
  void try_resume();
  void begin();
  void begin_epoch();
  bool train_batch();
  StepExtras extras() const;
  void handle_nan();
  void end_training();
  bool is_validated() const;
  void begin_validation();
  void end_validation();
  void end_epoch();
  void end_without_data();
  void finish_normally();
  void replace_weights_by_averages() const;
  bool has_results() const;
  NamedValues results() const;
  void add_results(Logs& logs, const std::string& prefix) const;
};

}  // namespace crescent

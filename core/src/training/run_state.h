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
  /// The next action of run_phase(): call on_train_begin, begin an epoch, train on a batch, begin a
  /// validation, validate a batch, or nothing.
  enum class Phase { start, epoch, training, validation, validating, ended };

  State(ModelPtr model, FitOptions options, const RunPlan& plan);
  /// Advances the run to the end of the next batch; returns false if the run has ended.
  bool advance();
  void end();
  /// Ends the run in the middle of an epoch. The epoch is not in the history, unless a later run
  /// resumes this one.
  void end_early();
  /// Makes this the current run of the model. When the model is saved, it stores the state of its
  /// current run.
  void take_over(const TrainingRunPtr& self);
  void pass_params_to_callbacks();

  const Pass& pass() const { return in_validation() ? testing : training; }
  bool in_validation() const { return phase == Phase::validation || phase == Phase::validating; }
  NamedValues logs() const;
  /// The position in the run as text: "after batch 3 of 10 in epoch 2 of 5".
  std::string progress_text() const;

  // The following functions are defined in snapshot.cpp.
  Dict snapshot() const;
  /// The snapshot without the variables of the model; null if a callback ended the run.
  Value remaining_progress() const;
  void restore(const Dict& snapshot);
  /// In a process that replays a step of this run, lets the callback ReplayRecorder restore the run
  /// from its record, whatever the options of fit say, and returns true; else returns false.
  bool try_replay();

  ModelPtr model;
  ModelAccess::Training& model_state;
  FitOptions options;
  Dict params;
  CallbackList callbacks;
  std::shared_ptr<History> history;
  ProcessGroup group;
  Pass training, testing;
  Phase phase = Phase::start;
  Phase end_phase = Phase::epoch;  ///< the phase in which the run ended, if it has ended
  int64_t epoch;                   // number of the current epoch, from 0
  // whether snapshots contain options.epochs, because set_epochs() changed it
  bool epochs_were_set = false;
  bool out_of_data = false;
  bool is_replayed = false;   ///< whether ReplayRecorder has restored the run from its record
  Logs validated_epoch_logs;  // logs of the epoch that is being validated
  Logs last_epoch_logs;
  // the results of the last step before a snapshot was restored, and the batches taken until then
  Logs restored_results;
  int64_t restored_after = 0;
  /// Specs of batches of training and of validation before a snapshot was restored.
  std::optional<BatchSpecs> restored_batch, restored_validation_batch;
  std::weak_ptr<TrainingRun> replaced_run;  // the current run of the model before this one
  std::atomic<bool> is_pause_requested = false, is_stop_requested = false;

 private:
  Dict progress() const;
  std::optional<BatchSpecs> training_batch() const;
  std::optional<BatchSpecs> validation_batch() const;
  void prepare_for(const Dict& snapshot);
  void rehearse(const BatchSpecs& batch, bool is_training) const;
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

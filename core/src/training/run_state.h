// The state of a training run and its transitions from batch to batch.
#pragma once
#include <atomic>

#include "crescent/model/training_run.h"
#include "training/pass.h"

namespace crescent {

/// The data of a training run.
struct RunPlan {
  DatasetPtr data, validation;
  Value batch_size;  ///< for the params of callbacks; null when unknown
};

struct TrainingRun::State {
  /// What comes next: on_train_begin, an epoch, a training batch, a validation, a validation batch,
  /// nothing.
  enum class Phase { start, epoch, training, validation, validating, ended };

  State(ModelPtr model, FitOptions options, const RunPlan& plan);
  /// Runs to the end of the next batch; returns false when the run has ended.
  bool advance();
  void end();
  /// Ends the run in mid-epoch: the epoch is discarded unless a later run resumes this one.
  void end_early();
  /// Makes this the current run of the model, which the model asks for its state when it is saved.
  void take_over(const TrainingRunPtr& self);
  void tell_params();

  const Pass& pass() const { return in_validation() ? testing : training; }
  bool in_validation() const { return phase == Phase::validation || phase == Phase::validating; }
  NamedValues logs() const;
  /// The position in the run as text: "after batch 3 of 10 in epoch 2 of 5".
  std::string place() const;

  // These are defined in snapshot.cpp.
  Dict snapshot() const;
  /// The snapshot without the model's own variables; null when a callback ended the run.
  Value remaining() const;
  void restore(const Dict& snapshot);

  ModelPtr model;
  ModelAccess::Training& model_state;
  FitOptions options;
  Dict params;
  CallbackList callbacks;
  std::shared_ptr<History> history;
  ProcessGroup group;
  Pass training, testing;
  Phase phase = Phase::start;
  int64_t epoch;                 // number of the current epoch, from 0
  bool epochs_were_set = false;  // whether a snapshot saves options.epochs, because it was changed
  bool out_of_data = false;
  Logs running, last;  // logs of the epoch being validated; of the last completed epoch
  TensorSpecs inputs;  // input specs of the batches before a snapshot was restored
  std::weak_ptr<TrainingRun> before;  // the run that owned the model before
  std::atomic<bool> pausing = false, stopping = false;

 private:
  Dict progress() const;
  TensorSpecs input_specs() const;
  void begin_again(Phase in);
  bool run_phase();
  bool stops();
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
  void take_averages() const;
  void add_results(Logs& logs, const std::string& prefix) const;
};

}  // namespace crescent

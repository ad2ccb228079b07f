// What a training run consists of, and how it goes from one batch to the next.
#pragma once
#include <atomic>

#include "crescent/model/training_run.h"
#include "training/pass.h"

namespace crescent {

/// What a run goes through: its data and what validates it.
struct RunPlan {
  DatasetPtr data, validation;
  Value batch_size;  ///< for the params of callbacks; null when not known
};

struct TrainingRun::State {
  /// What comes next: on_train_begin, an epoch, a batch of it, a validation, a batch of that,
  /// nothing.
  enum class Phase { start, epoch, training, validation, validating, ended };

  State(ModelPtr model, FitOptions options, const RunPlan& plan);
  /// To the end of the next batch; false when the run has ended.
  bool advance();
  void end();
  /// Ends here: what the epoch has so far does not count, unless a later run resumes this one.
  void end_early();
  /// The model is in this run's hands: whoever saves it asks this run what it is doing.
  void take_over(const TrainingRunPtr& self);
  void tell_params();

  const Pass& pass() const { return in_validation() ? testing : training; }
  bool in_validation() const { return phase == Phase::validation || phase == Phase::validating; }
  NamedValues logs() const;
  /// How far it came: "after batch 3 of 10 in epoch 2 of 5".
  std::string place() const;

  // In snapshot.cpp:
  Dict snapshot() const;
  /// Without the model's own variables; null when a callback ended the run.
  Value left() const;
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
  int64_t epoch;  // from 0
  bool out_of_data = false;
  Logs running, last;                 // of the epoch that is validated, of the last whole one
  TensorSpecs inputs;                 // of the batches before this run went on from a snapshot
  std::weak_ptr<TrainingRun> before;  // whose model it was
  std::atomic<bool> pausing = false, stopping = false;

 private:
  Dict progress() const;
  TensorSpecs input_specs() const;
  void begin_again(Phase in);
  bool take_turn();
  bool stops();
  void start();
  void try_resume();
  void begin();
  void begin_epoch();
  bool train_batch();
  void end_training();
  bool is_validated() const;
  void begin_validation();
  void end_validation();
  void end_epoch();
  void end_without_data();
  void end_whole();
  void take_averages() const;
  void add_results(Logs& logs, const std::string& prefix) const;
};

}  // namespace crescent

// TrainingRun: what fit does, as an object. It goes on a batch at a time, can be looked at, changed
// and stopped in between, and saved in the middle of an epoch: what is restored from that, in this
// process or another, ends with the same bits as a run that never stopped.
//
//   auto run = model->start_training({x}, {y}, {{"epochs", 3}});
//   while (run->advance())
//     if (run->batch() == 100) run->save("run.h5");
//
//   auto again = same_model->start_training({x}, {y}, {{"epochs", 3}});
//   again->load("run.h5");
//   again->finish();
#pragma once
#include "crescent/model/model.h"

namespace crescent {

class CRESCENT_API TrainingRun final : public Object {
 public:
  ~TrainingRun() override;
  std::string class_name() const override { return "TrainingRun"; }

  // ---- going on
  /// Goes on by so many batches, those of validations too, and everything between them; returns how
  /// many these were: fewer when the run ended or was paused. Stands after a batch: an epoch's end
  /// and the next one's begin come with the batch that follows. Throws Interrupted before a batch;
  /// the run can go on afterwards, as it can after an error in a batch, which is left out.
  int64_t advance(int64_t batches = 1);
  /// Goes on until the run ends or is paused.
  std::shared_ptr<History> finish();
  // From callbacks, and from any thread:
  /// advance() and finish() return after the current batch.
  void pause();
  /// The run ends after the current batch, or the validation that is going on, as when a callback
  /// sets stop_training.
  void stop();

  // ---- looking
  int64_t epoch() const;    ///< current or next, from 0
  int64_t batch() const;    ///< how many batches of the epoch, or of its validation, are done
  int64_t batches() const;  ///< of an epoch, or of a validation; -1 when not known
  int64_t epochs() const;
  bool validating() const;
  bool ended() const;
  /// Loss and metrics of the epoch so far; after its end, and when nothing has begun, those that
  /// the last one ended with.
  NamedValues logs() const;
  std::shared_ptr<History> history() const;
  Model& model() const;
  std::vector<CallbackPtr> callbacks() const;

  // ---- changing. Weights, learning rate, optimizer state: through the model.
  void set_epochs(int64_t epochs);
  /// Once the run has begun, the callback hears on_train_begin.
  void add_callback(const CallbackPtr& callback);
  void remove_callback(const CallbackPtr& callback);

  // ---- keeping
  /// Everything to go on from: weights, optimizer, metrics, random state, what callbacks remember,
  /// the history, the place in the data. A Dict; tensors are boxed. Taken in a callback's hook, it
  /// counts the hook as done.
  Value snapshot() const;
  /// Goes to where a run of an equal model over equal data was. Its callbacks hear on_train_begin
  /// and on_epoch_begin, then get their states. Epochs and other options stay this run's own. What
  /// Model::run_state gives has no weights: it is for the model that was saved and loaded with it.
  void restore(const Value& snapshot);
  /// The same as a file (any format that holds arrays).
  void save(const std::string& path) const;
  void load(const std::string& path);

  struct State;  ///< in core
  explicit TrainingRun(std::unique_ptr<State> state);
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace crescent

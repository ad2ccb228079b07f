// TrainingRun: the loop of fit as an object. It advances batch by batch and can be inspected,
// changed, stopped, and saved in the middle of an epoch. A run that is restored from the saved
// file, in this process or another, ends with the same bits as a run that was never stopped.
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

  // ---- advancing
  /// Processes this number of batches, those of validations included, and returns how many were
  /// processed: fewer when the run ended or was paused. The end of an epoch and the beginning of
  /// the next one are processed with the batch that follows. If the user interrupted the thread,
  /// throws Interrupted before the next batch. The run can continue after Interrupted. It can also
  /// continue after an error in a batch; that batch is then skipped.
  int64_t advance(int64_t batches = 1);
  /// Processes batches until the run ends or is paused.
  std::shared_ptr<History> finish();
  // The following two functions may be called from callbacks and from any thread. advance() and
  // finish() return after the current batch.
  void pause();
  /// Ends the run after the current batch or validation, as stop_training of a callback does.
  void stop();

  // ---- inspecting
  int64_t epoch() const;  ///< the current epoch, or the next one between epochs, from 0
  int64_t batch() const;  ///< completed batches of the epoch, or of the validation while one runs
  /// The number of batches of an epoch, or of the validation while one runs; -1: unknown.
  int64_t batches() const;
  int64_t epochs() const;
  bool validating() const;
  bool ended() const;
  /// Loss and metrics of the current epoch so far; before its first batch, those of the previous
  /// epoch.
  NamedValues logs() const;
  std::shared_ptr<History> history() const;
  Model& model() const;
  std::vector<CallbackPtr> callbacks() const;

  // ---- changing. Weights, learning rate and optimizer state are changed on the model.
  void set_epochs(int64_t epochs);
  /// Adds a callback; once the run has begun, its on_train_begin is called at once.
  void add_callback(const CallbackPtr& callback);
  void remove_callback(const CallbackPtr& callback);

  // ---- saving
  /// Returns a Dict of everything that is needed to resume: weights, optimizer, metrics, random
  /// state, states of callbacks, the history, the position in the data. Tensors are boxed. A
  /// snapshot that a hook takes after a batch or an epoch counts this batch or epoch as completed.
  Value snapshot() const;
  /// Continues from a snapshot of a run of an equal model over equal data. on_train_begin and
  /// on_epoch_begin of the callbacks are called before set_state. Epochs and other options of this
  /// run are kept. A snapshot from Model::run_state has no weights: it belongs to the model that
  /// was saved and loaded with it.
  void restore(const Value& snapshot);
  /// save() writes a snapshot to a file, and load() continues from such a file. The format of the
  /// file must be able to store arrays.
  void save(const std::string& path) const;
  void load(const std::string& path);

  struct State;  ///< defined in core/src
  explicit TrainingRun(std::unique_ptr<State> state);
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace crescent

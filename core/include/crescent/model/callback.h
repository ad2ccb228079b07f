// Callbacks: objects with hooks that fit, evaluate and predict call. The values of logs are fetched
// from the device when a callback reads them.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crescent/registry/registry.h"
#include "crescent/tensor/tensor.h"

namespace crescent {

class Model;
class TrainingRun;

/// Named numbers in the order of Keras. The values of a batch may still be on the device: they are
/// fetched when they are first read, and when Logs are copied, since a copy may outlive the run.
class CRESCENT_API Logs {
 public:
  Logs() = default;
  Logs(const Logs& other) : values_(other.values()), outputs_(other.outputs_) {}
  Logs& operator=(const Logs& other) {
    values_ = other.values(), fetch_ = nullptr, outputs_ = other.outputs_;
    return *this;
  }
  explicit Logs(std::function<std::vector<std::pair<std::string, double>>()> fetch)
      : fetch_(std::move(fetch)) {}
  const std::vector<std::pair<std::string, double>>& values() const;
  bool contains(std::string_view name) const;
  /// Returns the value with this name; fails with a list of the existing names.
  double at(std::string_view name) const;
  void set(const std::string& name, double value);
  std::vector<std::string> names() const;
  /// The outputs of the batch, in on_predict_batch_end; empty in other hooks.
  const Tensors& outputs() const { return outputs_; }
  void set_outputs(Tensors outputs) { outputs_ = std::move(outputs); }

 private:
  std::function<std::vector<std::pair<std::string, double>>()> fetch_;
  mutable std::vector<std::pair<std::string, double>> values_;
  mutable bool fetched_ = false;
  Tensors outputs_;
};

/// A weak reference to the model of a callback. It does not keep the model alive; dereferencing it
/// after the model was destroyed fails.
class CRESCENT_API ModelRef {
 public:
  ModelRef() = default;
  explicit ModelRef(Model* model);  ///< `model` must be owned by a shared_ptr; it may be null
  /// Null when the model was destroyed or none was set.
  std::shared_ptr<Model> lock() const { return model_.lock(); }
  explicit operator bool() const { return !model_.expired(); }
  std::shared_ptr<Model> operator->() const { return get(); }
  Model& operator*() const { return *get(); }

 private:
  std::shared_ptr<Model> get() const;

  std::weak_ptr<Model> model_;
};

/// Hooks that fit, evaluate and predict call; a subclass overrides those that it needs. Epochs and
/// batches count from 0.
///
/// A callback with state that must survive the process (the best value so far) returns it from
/// get_state. The state is saved with the model and with a training run. set_state gets it after
/// on_train_begin in the first fit of the loaded model, or, in a resumed run, after on_epoch_begin.
/// A state is passed to a callback of the same class and options; if there are several such
/// callbacks, they get their states in order. Tensors in a state are boxed (BoxedTensor). A run
/// that a callback ended by stop_training leaves no state: the next fit is a new run.
class CRESCENT_API Callback : public Plain {
 public:
  static constexpr const char* kKind = "callback";
  ~Callback() override;
  /// Called first, before on_train_begin of any callback. A callback that saved an earlier run may
  /// restore() this run from it; try_resume of later callbacks is then not called.
  virtual void try_resume(TrainingRun&) {}
  virtual void on_train_begin(const Logs&) {}
  virtual void on_train_end(const Logs&) {}
  virtual void on_epoch_begin(int64_t /*epoch*/, const Logs&) {}
  /// The logs contain val_* too; a callback may add entries, such as lr.
  virtual void on_epoch_end(int64_t /*epoch*/, Logs&) {}
  virtual void on_train_batch_begin(int64_t batch, const Logs& logs) {
    on_batch_begin(batch, logs);
  }
  virtual void on_train_batch_end(int64_t batch, const Logs& logs) { on_batch_end(batch, logs); }
  // The names of on_train_batch_begin and on_train_batch_end in Keras 2.
  virtual void on_batch_begin(int64_t /*batch*/, const Logs&) {}
  virtual void on_batch_end(int64_t /*batch*/, const Logs&) {}
  virtual void on_test_begin(const Logs&) {}
  virtual void on_test_end(const Logs&) {}
  virtual void on_test_batch_begin(int64_t /*batch*/, const Logs&) {}
  virtual void on_test_batch_end(int64_t /*batch*/, const Logs&) {}
  virtual void on_predict_begin(const Logs&) {}
  virtual void on_predict_end(const Logs&) {}
  virtual void on_predict_batch_begin(int64_t /*batch*/, const Logs&) {}
  virtual void on_predict_batch_end(int64_t /*batch*/, const Logs&) {}

  /// Called before the first hook. `params` has the entries batch_size, epochs, steps (null when
  /// unknown), samples, verbose, do_validation and metrics.
  void attach_run(Model* model, Dict params) {
    model_ = ModelRef(model), params_ = std::move(params);
  }

  /// The model of the current or the last run; null after the model was destroyed.
  std::shared_ptr<Model> model() const { return model_.lock(); }
  /// The parameters of the current or the last run.
  const Dict& params() const { return params_; }

  virtual Dict get_state() const { return {}; }
  virtual void set_state(const Dict&) {}
  /// Whether the callback saves the model. The hooks of such callbacks are called after those of
  /// other callbacks, so that the saved states of the other callbacks are up to date.
  virtual bool comes_last() const { return false; }
  /// Whether the callback only writes or shows values that are equal in all processes of a
  /// distributed training. Only one of the processes calls the hooks of such a callback.
  virtual bool writes_for_all() const { return false; }

 protected:
  ModelRef model_;  ///< the model of the current or the last run
  Dict params_;
};
using CallbackPtr = std::shared_ptr<Callback>;

/// The return value of fit: the logs of every epoch.
class CRESCENT_API History final : public Callback {
 public:
  static void describe(Schema<History>& s) { s.doc("Records the logs of each epoch."); }
  ~History() override;
  void on_train_begin(const Logs&) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  const std::vector<int64_t>& epoch() const { return epoch_; }
  const std::vector<std::pair<std::string, std::vector<double>>>& history() const {
    return history_;
  }
  const std::vector<double>& at(std::string_view name) const;
  /// record() converts the history to a Dict, from which set_record() restores it. The history of a
  /// resumed run contains the epochs before the interruption too.
  Dict record() const;
  void set_record(const Dict& record);

 private:
  std::vector<int64_t> epoch_;
  std::vector<std::pair<std::string, std::vector<double>>> history_;
};

}  // namespace crescent

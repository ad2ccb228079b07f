// Callbacks: called by fit, evaluate and predict. Logs are read only if someone looks.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crescent/registry/registry.h"

namespace crescent {

class Model;
class TrainingRun;

/// Named numbers, in Keras' order. A batch's values may still be in the device: they are fetched on
/// the first look, and by whoever makes a copy, which may outlive the run.
class CRESCENT_API Logs {
 public:
  Logs() = default;
  Logs(const Logs& other) : values_(other.values()) {}
  Logs& operator=(const Logs& other) { return values_ = other.values(), fetch_ = nullptr, *this; }
  explicit Logs(std::function<std::vector<std::pair<std::string, double>>()> fetch)
      : fetch_(std::move(fetch)) {}
  const std::vector<std::pair<std::string, double>>& values() const;
  bool contains(std::string_view name) const;
  /// Fails listing what is there.
  double at(std::string_view name) const;
  void set(const std::string& name, double value);
  std::vector<std::string> names() const;

 private:
  std::function<std::vector<std::pair<std::string, double>>()> fetch_;
  mutable std::vector<std::pair<std::string, double>> values_;
  mutable bool fetched_ = false;
};

/// The model that a callback serves. It does not keep the model alive; using a model that is gone
/// fails.
class CRESCENT_API ModelRef {
 public:
  ModelRef() = default;
  explicit ModelRef(Model* model);  ///< a model that a shared pointer holds, or null
  /// Null when the model is gone, or there never was one.
  std::shared_ptr<Model> lock() const { return model_.lock(); }
  explicit operator bool() const { return !model_.expired(); }
  std::shared_ptr<Model> operator->() const { return get(); }
  Model& operator*() const { return *get(); }

 private:
  std::shared_ptr<Model> get() const;

  std::weak_ptr<Model> model_;
};

/// State: what a callback must remember to go on in a later process (the best value so far) is
/// given by get_state, saved with the model and with a training run, and handed to set_state after
/// on_train_begin: in the first fit of the loaded model, or where a run goes on (then
/// on_epoch_begin has told the epoch too), when there is a callback of the same class with the same
/// options (several of a kind: in their order). Tensors are boxed (BoxedTensor). A run that a
/// callback ended by stop_training leaves no state: the next fit is a new run.
class CRESCENT_API Callback : public Plain {
 public:
  static constexpr const char* kKind = "callback";
  ~Callback() override;
  /// A run is about to begin and has told nobody. Who kept an earlier one may restore() this one to
  /// where that was; those after it are then not asked.
  virtual void try_resume(TrainingRun&) {}
  virtual void on_train_begin(const Logs&) {}
  virtual void on_train_end(const Logs&) {}
  virtual void on_epoch_begin(int64_t /*epoch, from 0*/, const Logs&) {}
  virtual void on_epoch_end(int64_t /*epoch*/, Logs&) {
  }  ///< logs hold val_* too; a callback may add (lr)
  virtual void on_train_batch_begin(int64_t batch, const Logs& logs) {
    on_batch_begin(batch, logs);
  }
  virtual void on_train_batch_end(int64_t batch, const Logs& logs) { on_batch_end(batch, logs); }
  // The older names of these two.
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

  /// Set before the first hook. params: batch_size, epochs, steps (null when unknown), samples,
  /// verbose, do_validation, metrics.
  void attach_run(Model* model, Dict params) {
    model_ = ModelRef(model), params_ = std::move(params);
  }

  virtual Dict get_state() const { return {}; }
  virtual void set_state(const Dict&) {}
  /// True for those that save the model: they are called after the others, whose state they save.
  virtual bool comes_last() const { return false; }

 protected:
  ModelRef model_;  ///< the model that runs, or ran last
  Dict params_;
};
using CallbackPtr = std::shared_ptr<Callback>;

/// What fit returns: values of every epoch.
class CRESCENT_API History final : public Callback {
 public:
  static void describe(Schema<History>& s) { s.doc("Records what every epoch ended with."); }
  ~History() override;
  void on_train_begin(const Logs&) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  const std::vector<int64_t>& epoch() const { return epoch_; }
  const std::vector<std::pair<std::string, std::vector<double>>>& history() const {
    return history_;
  }
  const std::vector<double>& at(std::string_view name) const;
  /// All of it as plain values, and back: a run that goes on has the epochs of before.
  Dict record() const;
  void set_record(const Dict& record);

 private:
  std::vector<int64_t> epoch_;
  std::vector<std::pair<std::string, std::vector<double>>> history_;
};

}  // namespace crescent

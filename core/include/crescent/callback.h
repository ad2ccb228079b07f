// Callbacks: called by fit, evaluate and predict. Logs are read only if someone looks.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "crescent/registry.h"

namespace crescent {

class Model;

/// Named numbers, in Keras' order. A batch's values may still be in the device: they are fetched on the first look.
class CRESCENT_API Logs {
 public:
  Logs() = default;
  explicit Logs(std::function<std::vector<std::pair<std::string, double>>()> fetch) : fetch_(std::move(fetch)) {}
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

class CRESCENT_API Callback : public Plain {
 public:
  static constexpr const char* kKind = "callback";
  ~Callback() override;
  virtual void on_train_begin(const Logs&) {}
  virtual void on_train_end(const Logs&) {}
  virtual void on_epoch_begin(int64_t /*epoch, from 0*/, const Logs&) {}
  virtual void on_epoch_end(int64_t /*epoch*/, Logs&) {}        ///< logs hold val_* too; a callback may add (lr)
  virtual void on_train_batch_begin(int64_t batch, const Logs& logs) {
    on_batch_begin(batch, logs);
  }
  virtual void on_train_batch_end(int64_t batch, const Logs& logs) { on_batch_end(batch, logs); }
  // Other names of the two above.
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

  /// Set before the first hook. params: batch_size, epochs, steps (null when unknown), samples, verbose, do_validation, metrics.
  void attach_run(Model* model, Dict params) { model_ = model, params_ = std::move(params); }

  /// Callback state that a saved training run should carry; empty by default.
  virtual Dict get_state() const { return {}; }
  virtual void set_state(const Dict&) {}

 protected:
  Model* model_ = nullptr;                    ///< the model that runs
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
  const std::vector<std::pair<std::string, std::vector<double>>>& history() const { return history_; }
  const std::vector<double>& at(std::string_view name) const;

 private:
  std::vector<int64_t> epoch_;
  std::vector<std::pair<std::string, std::vector<double>>> history_;
};

}  // namespace crescent

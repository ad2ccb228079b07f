// The hooks of callbacks as a table, for code that handles all of them alike: bindings of other
// languages, callbacks made of functions, callbacks that forward to others.
#pragma once
#include <cstdint>
#include <variant>

#include "crescent/model/callback.h"

namespace crescent {

/// A hook of Callback: its name and its member function.
struct CallbackHook {
  using PlainHook = void (Callback::*)(const Logs&);
  using NumberedHook = void (Callback::*)(int64_t, const Logs&);
  /// A hook that may add entries to the logs.
  using LogAddingHook = void (Callback::*)(int64_t, Logs&);

  const char* name;
  const char* doc;
  /// The name of the first argument, which is a number counted from 0: "epoch" or "batch"; null if
  /// the hook gets only logs.
  const char* number;
  std::variant<PlainHook, NumberedHook, LogAddingHook> function;
  const char* older_name = nullptr;  ///< the name in Keras 2, if it differs

  /// Calls the hook of `callback`. The overload for constant logs discards the entries that the
  /// hook adds.
  CRESCENT_API void call(Callback& callback, int64_t number, Logs& logs) const;
  CRESCENT_API void call(Callback& callback, int64_t number, const Logs& logs) const;
};

/// All hooks, in the order in which Keras lists them.
inline constexpr CallbackHook kCallbackHooks[] = {
    {"on_train_begin", "Called at the start of training.", nullptr, &Callback::on_train_begin},
    {"on_train_end", "Called at the end of training.", nullptr, &Callback::on_train_end},
    {"on_epoch_begin", "Called at the start of each epoch, counted from 0.", "epoch",
     &Callback::on_epoch_begin},
    {"on_epoch_end", "Called at the end of each epoch, counted from 0.", "epoch",
     &Callback::on_epoch_end},
    {"on_train_batch_begin", "Called before each batch of training.", "batch",
     &Callback::on_train_batch_begin, "on_batch_begin"},
    {"on_train_batch_end", "Called after each batch of training.", "batch",
     &Callback::on_train_batch_end, "on_batch_end"},
    {"on_test_begin", "Called at the start of evaluate or of a validation.", nullptr,
     &Callback::on_test_begin},
    {"on_test_end", "Called at the end of evaluate or of a validation.", nullptr,
     &Callback::on_test_end},
    {"on_test_batch_begin", "Called before each batch of evaluate or of a validation.", "batch",
     &Callback::on_test_batch_begin},
    {"on_test_batch_end", "Called after each batch of evaluate or of a validation.", "batch",
     &Callback::on_test_batch_end},
    {"on_predict_begin", "Called at the start of predict.", nullptr, &Callback::on_predict_begin},
    {"on_predict_end", "Called at the end of predict.", nullptr, &Callback::on_predict_end},
    {"on_predict_batch_begin", "Called before each batch of predict.", "batch",
     &Callback::on_predict_batch_begin},
    {"on_predict_batch_end", "Called after each batch of predict.", "batch",
     &Callback::on_predict_batch_end},
};

/// A callback that forwards every hook to one function.
class CRESCENT_API ForwardingCallback : public Callback {
 public:
  void on_train_begin(const Logs& logs) override;
  void on_train_end(const Logs& logs) override;
  void on_epoch_begin(int64_t epoch, const Logs& logs) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  void on_train_batch_begin(int64_t batch, const Logs& logs) override;
  void on_train_batch_end(int64_t batch, const Logs& logs) override;
  void on_test_begin(const Logs& logs) override;
  void on_test_end(const Logs& logs) override;
  void on_test_batch_begin(int64_t batch, const Logs& logs) override;
  void on_test_batch_end(int64_t batch, const Logs& logs) override;
  void on_predict_begin(const Logs& logs) override;
  void on_predict_end(const Logs& logs) override;
  void on_predict_batch_begin(int64_t batch, const Logs& logs) override;
  void on_predict_batch_end(int64_t batch, const Logs& logs) override;

 protected:
  /// `number` is 0 for hooks without an epoch or a batch. Logs are fetched only when they are read.
  virtual void forward(const CallbackHook& hook, int64_t number, const Logs& logs) = 0;
};

}  // namespace crescent

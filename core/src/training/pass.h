// One pass over data: an epoch of training, an evaluation, or a prediction. It advances batch by
// batch and calls the callbacks before and after each batch.
#pragma once
#include <functional>

#include "training/callback_list.h"
#include "training/error_context.h"
#include "training/input/arrays.h"
#include "training/input/batches.h"
#include "training/state/training.h"

namespace crescent {

inline constexpr int64_t kDefaultBatchSize = 32;

template <class T>
T parse(const char* title, const Dict& options) {
  T result;
  schema_of<T>(title).configure(&result, options);
  return result;
}

/// Returns the texts of an option whose value is a text, a list of texts or null; `title` names the
/// option in messages.
std::vector<std::string> names_in_option(const char* title, const Value& value);
/// Returns the number of steps as a Value, or null if it is unknown (negative).
Value steps_or_null(int64_t steps);

/// Returns the current results of the step as logs. They are computed only when a callback reads
/// them.
Logs lazy_logs(Model& model);
void check_compiled(const Model& model);
/// Returns the batch size of a pass: `batch_size` if it is set, else the batch size that a stateful
/// model was built for, else 32.
int64_t batch_size_for(const Model& model, const std::optional<int64_t>& batch_size);
void check_stateful(const Model& model, int64_t samples, int64_t batch_size);

class Pass {
 public:
  using Hook = void (Callback::*)(int64_t, const Logs&);
  /// How a pass processes a batch: the step, the hooks that are called before and after the step,
  /// and a function that returns the logs for the hook after the step.
  struct BatchStep {
    std::function<void(const Batch&, const Share&)> step;
    Hook hook_before, hook_after;
    std::function<Logs()> logs;
  };
  /// training_step() returns the BatchStep of training, testing_step() that of evaluation. In
  /// training, processes that share batches start from the weights of rank 0.
  static BatchStep training_step(Model& model, const StepExtras& extras, const ProcessGroup& group);
  static BatchStep testing_step(Model& model);

  Pass(Batches batches, BatchStep step) : batches_(std::move(batches)), step_(std::move(step)) {}
  explicit operator bool() const { return static_cast<bool>(batches_); }
  void begin() { batches_.begin(); }
  /// Processes the next batch; returns false at the end of the data.
  bool advance(const CallbackList& callbacks);
  Batches& batches() { return batches_; }
  const Batches& batches() const { return batches_; }

 private:
  Batches batches_;
  BatchStep step_;
};

/// begin_testing() resets the metrics and calls the hooks at the beginning of an evaluation,
/// end_testing() calls the hooks at its end. The results of the evaluation are those of the
/// metrics.
void begin_testing(Model& model, Pass& pass, const CallbackList& callbacks);
void end_testing(Model& model, const Pass& pass, const CallbackList& callbacks);

}  // namespace crescent

// What fit, evaluate and predict share: going through batches, callbacks, checks.
#pragma once
#include <optional>

#include "training/arrays.h"
#include "training/callback_list.h"
#include "training/told_where.h"
#include "training/training.h"

namespace crescent {

inline constexpr int64_t kDefaultBatch = 32;

template <class T>
T parse(const char* title, const Dict& options) {
  T parsed;
  schema_of<T>(title).configure(&parsed, options);
  return parsed;
}

/// f() for a step's batch. Mistakes in its data name it, counted from 1 as by the progress bar.
template <class F>
void with_batch(int64_t step, F f) {
  told_where([&] { return concat("batch ", step + 1); }, f);
}

/// Null when not known.
Value steps_or_null(int64_t steps);

/// Goes through a dataset for `run` ("evaluate"), a batch at a time, prefetching what comes from
/// files. Training by steps goes on where the last epoch ended, over the end of the data;
/// everything else starts from the first batch and ends with the data, or earlier after `steps`.
class Batches {
 public:
  Batches(const char* run, DatasetPtr data, std::optional<int64_t> steps, bool goes_on = false)
      : run_(run),
        data_(data && data->reads_files() ? prefetch(std::move(data)) : std::move(data)),
        steps_(steps),
        goes_on_(goes_on && steps) {}
  int64_t count() const { return steps_ ? *steps_ : data_->batches(); }
  void begin();
  /// Null at the end. It stays until the next call; its memory is used again. Throws Interrupted
  /// when the user asked to stop before the last batch.
  const Batch* next();
  /// How many next() gave since begin().
  int64_t taken() const { return taken_; }
  /// True when the data ended before the steps that were asked for, or gave nothing.
  bool ran_dry() const { return taken_ == 0 || (steps_ && taken_ < *steps_); }

 private:
  void heed_interruption() const;
  bool begins_again();

  const char* run_;
  DatasetPtr data_;
  Batch batch_;
  std::optional<int64_t> steps_;
  bool goes_on_;
  int64_t taken_ = 0;
  bool started_ = false;
};

/// Values of the step so far, fetched when somebody looks.
Logs lazy_logs(Model& model);
void check_compiled(const Model& model);
void check_stateful(const Model& model, int64_t samples, int64_t batch_size);
/// Evaluates on `batches`; the metrics hold the result afterwards.
void test_epoch(Model& model, Batches& batches, const CallbackList& callbacks);

}  // namespace crescent

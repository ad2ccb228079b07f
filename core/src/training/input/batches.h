// Going through a dataset: where the run is in it, interruption, data that ends too early.
#pragma once
#include <optional>

#include "crescent/data/data.h"
#include "training/input/process_group.h"

namespace crescent {

/// Goes through a dataset for `run` ("evaluate"), a batch at a time, prefetching what comes from
/// files. Training by steps goes on where the last epoch ended, and from the first batch when that
/// was the end of the data; everything else starts from the first batch. All end with the data, or
/// earlier after `steps`.
/// Processes that train together end where the first of them does.
class Batches {
 public:
  Batches(const char* run, DatasetPtr data, std::optional<int64_t> steps, bool goes_on = false,
          ProcessGroup group = {});
  explicit operator bool() const { return data_ != nullptr; }
  int64_t count() const { return steps_ ? *steps_ : data_->batches(); }
  int64_t samples() const { return data_->samples(); }
  void begin();
  /// Null at the end. It stays until the next call; its memory is used again. Throws Interrupted
  /// when the user asked to stop before the last batch; the call after that gives the batch.
  const Batch* next();
  /// Counts the batch that next() gave last, if it was not.
  void done();
  /// What the batch that was fetched last holds.
  const Tensors& inputs() const { return batch_.x; }
  /// How many were done since begin().
  int64_t taken() const { return taken_; }

  /// Where it is, as plain values; and back, in equal data.
  Dict position() const;
  void restore(const Dict& position);

 private:
  /// In rising strength.
  enum class Next { batch, end, interruption };
  Next prepare();
  bool is_interrupted() const;
  bool fetch();
  void begin_epoch();

  const char* run_;
  DatasetPtr data_;
  Batch batch_;
  std::optional<int64_t> steps_;
  bool goes_on_;
  ProcessGroup group_;
  int64_t taken_ = 0;
  int64_t given_ = 0;     ///< of the data's epoch, which may have begun before this one
  bool started_ = false;  ///< an epoch of the data has begun
  bool ended_ = false;    ///< and it is known that nothing is left of it
  enum class BatchState {
    none,
    fetched,
    given
  } batch_state_ = BatchState::none;  ///< what batch_ is
};

}  // namespace crescent

// Iterates over the batches of a dataset, stores the position, and handles interruptions and data
// that end too early.
#pragma once
#include <optional>

#include "crescent/data/data.h"
#include "data/array_dataset.h"
#include "program/batch_share.h"
#include "training/input/batch_specs.h"
#include "training/input/process_group.h"

namespace crescent {

/// Iterates over a dataset for `run_name` ("evaluate"), with prefetching for data from files.
/// Training with `steps` continues where the previous epoch ended, and restarts after the end of
/// the data; all other runs start at the first batch. Iteration ends with the data, or after
/// `steps` batches. In processes that train together it ends as soon as one of them has no more
/// data.
class Batches {
 public:
  Batches(const char* run_name, const DatasetPtr& data, std::optional<int64_t> steps,
          bool continues_across_epochs = false, ProcessGroup group = {});
  explicit operator bool() const { return data_ != nullptr; }
  int64_t count() const { return steps_ ? *steps_ : data_->batches(); }
  /// The number of samples in all processes; -1: unknown.
  int64_t samples() const { return group_.gathers_parts() ? -1 : data_->samples(); }
  void begin();
  /// Returns the next batch, or null at the end. The batch is valid until the next call, which
  /// reuses its memory. Throws Interrupted if the user asked to stop, except after the last batch;
  /// the next call after that then returns the batch.
  const Batch* next();
  /// Marks the batch of the last next() as done; repeated calls have no effect.
  void mark_done();
  /// The inputs of the batch that was fetched last.
  const Tensors& inputs() const { return batch_.x; }
  /// The specs of the batch that was fetched last, with the rows of all processes; nullopt if none
  /// was fetched.
  std::optional<BatchSpecs> specs() const;
  /// Whether a batch was marked by mark_done().
  bool any_done() const { return any_done_; }
  /// The share of this process in the last batch that next() returned; the inputs of the batch have
  /// only the rows of this share. An empty Share if this process gets the whole batch.
  const Share& share() const { return share_; }
  /// last_batch() returns the whole batch that was fetched last. If
  /// ProcessGroup::needs_all_inputs() is false, only the rows of this process have valid values in
  /// the inputs, or the inputs have only these rows. last_rows() returns the indices of the rows of
  /// the batch in the data; empty if they are unknown.
  const Batch& last_batch() const { return group_.gathers_parts() ? whole_batch_ : batch_; }
  std::vector<int64_t> last_rows() const { return rows_of_last_batch(*data_); }
  /// The number of batches marked by mark_done() since begin().
  int64_t batches_done() const { return batches_done_; }

  /// position() returns the position as a Dict; restore() goes back to such a position, in a
  /// dataset with equal data.
  Dict position() const;
  void restore(const Dict& position);

 private:
  /// What next() does in this process. If processes have different events, the one that is last in
  /// the order of the enumerators applies to all processes: an interruption in one process
  /// interrupts all.
  enum class BatchEvent { batch, end, interruption };
  BatchEvent next_event();
  bool is_interrupted() const;
  bool fetch();
  void begin_epoch();
  void warn_of_unused_data() const;
  void warn_of_early_end();
  void gather();
  void set_share();

  const char* run_name_;
  DatasetPtr data_;
  Batch batch_;
  Batch whole_batch_;  ///< the batch of all processes together; batch_ is the part of this process
  Batch own_batch_;    ///< the batch with all targets, and with only the rows of share_ as inputs
  Share share_;
  std::optional<int64_t> steps_;
  bool continues_across_epochs_;
  ProcessGroup group_;
  int64_t batches_done_ = 0;
  /// The number of batches that the dataset reported at the start of the epoch; -1: unknown.
  int64_t expected_batches_ = -1;
  bool has_warned_ = false;  ///< whether a warning said that the data ended too early
  /// The number of batches fetched in the current epoch of the dataset, which may have begun in an
  /// earlier epoch of training.
  int64_t fetched_in_dataset_epoch_ = 0;
  bool any_done_ = false;
  bool has_started_ = false;  ///< whether an epoch of the data has begun
  bool has_ended_ = false;    ///< whether the dataset is known to be exhausted
  /// Whether batch_ holds a batch, and whether next() has returned it.
  enum class BatchState { none, fetched, returned } batch_state_ = BatchState::none;
};

}  // namespace crescent

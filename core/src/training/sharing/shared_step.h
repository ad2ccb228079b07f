// Computes a training step on shares of a batch, so that it equals the step on the whole batch.
// Each process has the targets and weights of the whole batch; predictions are gathered from all
// processes, so that losses and metrics are computed for all samples; each process differentiates
// the rows that it computed, and the gradients are summed.
#pragma once
#include "training/input/process_group.h"
#include "training/state/training.h"

namespace crescent {

/// Whether processes may share the batches of a model, or divide the logical shards of the batches
/// among themselves. If they may not, `reason` says why.
struct SharingCheck {
  std::string reason;
  explicit operator bool() const { return reason.empty(); }
};
SharingCheck check_sharing(Model& model, bool uses_shards);
/// Returns the group of processes for a run of this model; `run_name` is for example "fit". If the
/// processes cannot share batches, each process computes whole batches, and a warning says why.
ProcessGroup group_for(Model& model, const char* run_name, ProcessGroup group);

/// Gradients with at most this many elements are reduced together with others.
inline constexpr int64_t kSmallGradient = 1 << 14;

/// Returns, for each random draw of a call of the model on a batch with the specs of `x`, how many
/// numbers are drawn for each row of the batch.
std::vector<RowsInDraw> draws_of(Model& model, const Tensors& x, bool training);
/// Calls the model on the rows of the share; returns the outputs for all rows of the batch.
Tensors call_on_share(Model& model, const Share& share, const Tensors& x, bool training);
/// Returns the mean over the batch, where `own_mean` is the mean over the rows of the share.
/// Gradients flow only to the rows of this process.
Tensor mean_over_shares(const Share& share, const Tensor& own_mean);
/// Numbers of elements. Gradients with at most `small_gradient` elements are collected in buckets;
/// a bucket is summed over the processes when it has more than `bucket_size` elements.
struct BucketSizes {
  int64_t small_gradient = kSmallGradient, bucket_size = 1 << 16;
};
/// Replaces the values, such as gradients, of these variables by their sums over the processes.
/// Values of variables that are divided among processes are not changed, because they are sums
/// already. Small values are summed together, as one tensor.
CRESCENT_API void sum_over_processes(Tensors& values, const Variables& variables,
                                     const BucketSizes& sizes = {});

/// The variables, such as moving averages, that calls of a model write besides the trained weights.
/// Each process writes them while an object of this class lives; average() then replaces the
/// written values by their means over the processes.
class WrittenState {
 public:
  explicit WrittenState(const Model& model);
  void average(const Share& share) const;

 private:
  Variables variables_;
  std::vector<const void*> value_ids_before_;  ///< ids of the values of variables_ before the step
};

}  // namespace crescent

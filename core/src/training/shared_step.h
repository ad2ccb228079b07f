// What makes a step on a share of a batch the step on the whole batch. Targets and weights are
// those of the whole batch in every process; predictions are gathered, so that losses and metrics
// are computed of all samples; each process differentiates the rows that it computed, and the
// gradients are summed.
#pragma once
#include "training/state/training.h"

namespace crescent {

/// Whether each process may compute a share of the batches of the model; else the reason.
struct Shareable {
  std::string why_not;
  explicit operator bool() const { return why_not.empty(); }
};
Shareable is_shareable(Model& model);

/// Calls the model on the rows of the share; returns its outputs for the whole batch.
Tensors call_on_share(Model& model, const Share& share, const Tensors& x, bool training);
/// The mean over the batch of what is a mean over the rows of each share; the gradient goes to the
/// rows of this process.
Tensor mean_over_shares(const Share& share, const Tensor& own);
/// Replaces the gradients by their sums over the processes. Small ones travel together.
void sum_over_processes(Tensors& gradients);

/// The state that calls of a model write beside the trained weights: moving averages. While an
/// object of this class lives, a step may write it; then mean() makes it that of all processes.
class WrittenState {
 public:
  explicit WrittenState(const Model& model);
  void mean(const Share& share) const;

 private:
  Variables variables_;
  std::vector<const void*> before_;  ///< the identities of their values
};

}  // namespace crescent

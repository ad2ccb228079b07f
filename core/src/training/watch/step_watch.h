// Checks in a training step whether the loss and the gradients are finite, and computes norms of
// its gradients and weights.
#pragma once
#include <map>

#include "crescent/layer/optimizer.h"
#include "optimization/update_observer.h"
#include "training/state/training.h"

namespace crescent {

/// A step throws this error before it updates variables if the loss or a gradient is not finite.
class NotFinite final : public Error {
 public:
  NotFinite() : Error("the loss or a gradient is not finite") {}
};

/// Adds checks and norms to the training steps of this thread.
class StepWatch final : public UpdateObserver {
 public:
  StepWatch(const StepExtras& extras, const Optimizer& optimizer);
  static bool is_needed(const StepExtras& extras);
  void on_loss(const Tensor& loss) override;
  void on_gradients(Tensors& gradients, const Variables& variables) override;
  /// The norms of each layer whose weights were updated, by names such as "gradient_norm/dense_1".
  std::vector<std::pair<std::string, Tensor>> norms() const;

 private:
  struct SquareSums {
    Tensors gradients, weights;
  };
  void add_check(Tensors& gradients);
  void record_squares(const Tensors& gradients, const Variables& variables);

  StepExtras extras_;
  bool skips_infinite_;  ///< whether the optimizer skips steps with gradients that are not finite
  Tensors losses_;       ///< losses since the last call of an optimizer
  const void* last_loss_id_ = nullptr;  ///< the id of the last loss
  std::vector<std::string> layer_names_;
  std::map<std::string, SquareSums> square_sums_;
};

/// The path of the layer that owns the variable: "dense_1" of "dense_1/kernel".
std::string layer_of_weight(const Variable& variable);

}  // namespace crescent

// The observer of losses and of updates of variables by optimizers on a thread.
#pragma once
#include "crescent/program/op.h"
#include "crescent/tensor/variable.h"

namespace crescent {

/// While an object of this class lives, it is notified of losses and gradients that are computed on
/// this thread.
class UpdateObserver {
 public:
  UpdateObserver();
  virtual ~UpdateObserver();
  UpdateObserver(const UpdateObserver&) = delete;
  /// The observer of this thread, or null.
  static UpdateObserver* current();
  /// Called with a loss that a training step computed.
  virtual void on_loss(const Tensor& loss) = 0;
  /// Called with the gradients that an optimizer was given, before it uses them; some may be empty.
  /// The observer may replace them by tensors with equal values.
  virtual void on_gradients(Tensors& gradients, const Variables& variables) = 0;

 private:
  UpdateObserver* outer_observer_;
};

}  // namespace crescent

// What watches the updates of variables by optimizers on a thread.
#pragma once
#include "crescent/program/op.h"
#include "crescent/tensor/variable.h"

namespace crescent {

/// While an object of this class lives, it is told of the losses and gradients of this thread.
class UpdateObserver {
 public:
  UpdateObserver();
  virtual ~UpdateObserver();
  UpdateObserver(const UpdateObserver&) = delete;
  /// The observer of this thread; null: none.
  static UpdateObserver* current();
  /// A loss that a step computed for training.
  virtual void on_loss(const Tensor& loss) = 0;
  /// The gradients that an optimizer got, of which some may be empty, before it uses them; the
  /// observer may replace them by equal ones.
  virtual void on_gradients(Tensors& gradients, const Variables& variables) = 0;

 private:
  UpdateObserver* before_;
};

}  // namespace crescent

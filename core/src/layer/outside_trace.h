// Weights are made and graphs worked out whatever goes on around: neither a recorded program nor a
// tape sees it.
#pragma once
#include <functional>

#include "crescent/program/gradient.h"
#include "crescent/tensor/tensor.h"
#include "program/autocast.h"

namespace crescent {

/// While alive, this thread neither records a program nor tells tapes: real tensors compute.
class OutsideTrace {
 public:
  OutsideTrace();
  ~OutsideTrace();
  OutsideTrace(const OutsideTrace&) = delete;

 private:
  void* paused_;
  NoGradient no_gradient_;
  Autocast no_autocast_{std::nullopt};
};

/// What f gives for tensors of these dtypes, shapes and masks, all abstract; whatever it does to
/// variables is forgotten.
Tensors run_abstractly(const std::function<Tensors(const Tensors&)>& f, const Tensors& like);

}  // namespace crescent

// Suspends traces and tapes, for code that creates weights or infers shapes.
#pragma once
#include <functional>

#include "crescent/program/gradient.h"
#include "crescent/tensor/tensor.h"
#include "program/recording/autocast.h"

namespace crescent {

/// While an object of this class lives, this thread neither records programs nor notifies tapes,
/// and ops on tensors with values compute at once.
class OutsideTrace {
 public:
  OutsideTrace();
  ~OutsideTrace();
  OutsideTrace(const OutsideTrace&) = delete;

 private:
  void* paused_recorder_;
  NoGradient no_gradient_;
  Autocast no_autocast_{std::nullopt};
};

/// Runs f on abstract tensors with the dtypes, shapes and masks of `examples` and returns its
/// abstract results; assignments to variables have no effect.
Tensors run_abstractly(const std::function<Tensors(const Tensors&)>& f, const Tensors& examples);

}  // namespace crescent

// Reverse-mode gradients. The vjp of every op is written with ops, so gradients of gradients and
// gradients inside recorded programs need nothing extra.
//
//   GradientTape tape;                       // records from here
//   Tensor loss = ops::sum(ops::square(w * x));
//   Tensors g = tape.gradient(loss, {w});    // w: Variable or watched Tensor
#pragma once
#include <memory>

#include "crescent/program/op.h"
#include "crescent/tensor/variable.h"

namespace crescent {

class CRESCENT_API GradientTape {
 public:
  GradientTape();  ///< starts recording on this thread; tapes nest
  ~GradientTape();
  GradientTape(GradientTape&&) noexcept;
  void watch(const Tensor& tensor);  ///< trainable variables are watched automatically
  void stop();  ///< ends recording; gradient() may be called any number of times afterwards

  /// d(sum of target * upstream)/d(source) for each source; an empty Tensor for a source that
  /// target does not depend on.
  Tensors gradient(const Tensor& target, std::span<const Variable> sources,
                   const Tensor& upstream = {});
  Tensors gradient(const Tensor& target, std::span<const Tensor> sources,
                   const Tensor& upstream = {});
  /// The gradients of the sum over several targets.
  Tensors gradient(std::span<const Tensor> targets, std::span<const Tensor> sources,
                   std::span<const Tensor> upstreams);

 private:
  friend struct TapeAccess;
  struct State;
  std::shared_ptr<State> state_;
};

/// While an object of this class lives, tapes of this thread record nothing.
class CRESCENT_API NoGradient {
 public:
  NoGradient();
  ~NoGradient();
  NoGradient(const NoGradient&) = delete;
};

}  // namespace crescent

// What products and convolutions do to their results, in the one order in which kernels do it: sums
// with a bias and another array, or a mask, then an activation, then moments.
#pragma once
#include "crescent/device/lowered_ops.h"

namespace crescent::cpu {

enum class ActivationKind : uint8_t { none, relu, sigmoid, tanh };
/// What is done with another array of the shape of the result.
enum class Combine : uint8_t { none, add /* c + x */, mask /* x > 0 ? c : 0 */ };

struct PostOps {
  explicit PostOps(const Op& op);

  bool bias = false, moments = false;
  Combine combine = Combine::none;
  ActivationKind activation = ActivationKind::none;
  Mixed mixed = Mixed::no;
  bool is_known = true;  ///< a kernel may have them; false for another order
};

/// The op that post-ops belong to; any other op itself. Its name is that of the rows of kernels.
const Op& base_of(const Op& op);

}  // namespace crescent::cpu

// PostOps: the post-ops of products and convolutions in the one order that kernels support: sums
// with a bias and another array, or a mask, then an activation, then moments.
#pragma once
#include "crescent/device/lowered_ops.h"

namespace crescent::cpu {

enum class ActivationKind : uint8_t { none, relu, sigmoid, tanh };
/// How another array of the result's shape is combined with the result.
enum class Combine : uint8_t { none, add /* c + x */, mask /* x > 0 ? c : 0 */ };

struct PostOps {
  explicit PostOps(const Op& op);

  bool bias = false, moments = false;
  Combine combine = Combine::none;
  ActivationKind activation = ActivationKind::none;
  Mixed mixed = Mixed::no;
  bool is_known = true;  ///< false for post-ops in an order that no kernel supports
};

/// The op that `op` adds post-ops to, or `op` itself when it adds none. Rows of kernels go by the
/// name of this op.
const Op& base_of(const Op& op);

}  // namespace crescent::cpu

// PostOps: the operations after a matrix product or convolution in the only order that kernels
// support: adding a bias and another array, or applying a mask; then an activation; then computing
// the moments (mean and variance of each channel).
#pragma once
#include "crescent/device/lowered_ops.h"

namespace crescent::cpu {

enum class ActivationKind : uint8_t { none, relu, sigmoid, tanh };
/// How another array of the result's shape is combined with the result.
enum class Combine : uint8_t { none, add /* c + x */, mask /* x > 0 ? c : 0 */ };

struct PostOps {
  explicit PostOps(const Op& op);

  bool has_bias = false, has_moments = false;
  Combine combine = Combine::none;
  ActivationKind activation = ActivationKind::none;
  Mixed mixed = Mixed::no;
  bool is_supported = true;  ///< false if kernels do not support post-ops in this order
};

/// The op to which `op` adds post-ops, or `op` itself if it adds none. Tables of kernels contain
/// the name of this op.
const Op& base_of(const Op& op);

}  // namespace crescent::cpu

// Joins depthwise convolutions with the normalizations of their images into single ops:
//
//   %6 = fused(%0, mean, rstd, gamma, beta)        ->   %7 = depthwise_forward(%0, ..., %5)
//   %7 = conv(%6, %5)
//
// Gradients are joined likewise: those of the normalization after the convolution, of the kernel
// and of the images, with the sums that the gradient of the normalization before the convolution
// needs.
#pragma once
#include "crescent/program/program.h"

namespace crescent::cpu {

void join_depthwise(Program& program);

}  // namespace crescent::cpu

// Depthwise convolutions and what is done to their images in one go:
//
//   %6 = fused(%0, mean, rstd, gamma, beta)        ->   %7 = depthwise_forward(%0, ..., %5)
//   %7 = conv(%6, %5)
//
// and the same of the gradients: of the normalization behind it, of the kernel, of the images, and
// the sums that the gradient of the normalization before it wants.
#pragma once
#include "crescent/program/program.h"

namespace crescent::cpu {

void join_depthwise(Program& program);

}  // namespace crescent::cpu

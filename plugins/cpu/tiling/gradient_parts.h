// Replaces the gradient of a batch normalization of large arrays by ops that can be cut:
//
//   %5, %6, %7 = batch_norm_backward(%0, ..., %4)   ->   %7, %8 = batch_norm_sums(%0, %4, ...)
//                                                        %6, ... = batch_norm_factors(%7, %8, ...)
//                                                        %5 = batch_norm_gradient(%0, %4, ...)
#pragma once
#include "crescent/program/program.h"

namespace crescent::cpu {

void split_batch_norm_gradients(Program& program);

}  // namespace crescent::cpu

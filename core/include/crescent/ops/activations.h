// Activation functions that ops.h does not have.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

CRESCENT_API Tensor relu6(const Tensor& x);           ///< min(max(x, 0), 6)
CRESCENT_API Tensor sparse_sigmoid(const Tensor& x);  ///< clip((x + 1) / 2, 0, 1)
CRESCENT_API Tensor softsign(const Tensor& x);        ///< x / (1 + |x|)
/// x - threshold * sign(x) where |x| > threshold, else 0.
CRESCENT_API Tensor soft_shrink(const Tensor& x, double threshold = 0.5);
/// x where |x| > threshold, else 0.
CRESCENT_API Tensor hard_shrink(const Tensor& x, double threshold = 0.5);
CRESCENT_API Tensor tanh_shrink(const Tensor& x);  ///< x - tanh(x)
/// 0 where x <= -1, (x + 1)^2 / 4 where -1 < x < 1, and x where x >= 1.
CRESCENT_API Tensor sparse_plus(const Tensor& x);
CRESCENT_API Tensor squareplus(const Tensor& x, double b = 4);  ///< (x + sqrt(x^2 + b)) / 2
CRESCENT_API Tensor log_sigmoid(const Tensor& x);               ///< -log(1 + exp(-x))
CRESCENT_API Tensor hard_sigmoid(const Tensor& x);              ///< clip(x / 6 + 0.5, 0, 1)
CRESCENT_API Tensor hard_silu(const Tensor& x);                 ///< x * hard_sigmoid(x)
CRESCENT_API Tensor selu(const Tensor& x);                      ///< 1.0507 * elu(x, 1.6733)
/// max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).
CRESCENT_API Tensor celu(const Tensor& x, double alpha = 1);
CRESCENT_API Tensor glu(const Tensor& x, int axis = -1);  ///< first half * sigmoid(second half)
/// x where x is above the threshold, else `value`.
CRESCENT_API Tensor threshold(const Tensor& x, double threshold, double value);
/// Softmax over several axes together; over all axes if none are given.
CRESCENT_API Tensor softmax(const Tensor& x, const Axes& axes);
CRESCENT_API Tensor log_softmax(const Tensor& x, const Axes& axes);
/// The probability vector nearest to x in Euclidean distance (Martins and Astudillo, 2016), in
/// which many elements are 0.
CRESCENT_API Tensor sparsemax(const Tensor& x, int axis = -1);

}  // namespace crescent::ops

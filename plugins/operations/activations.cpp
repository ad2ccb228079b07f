// Activation functions and related operations.
#include "crescent/ops/activations.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {

CRESCENT_REGISTER(activations) {
  Operations(registry, "keras.src.ops.nn")
      .add("Relu", "relu(x)", &ops::relu, "max(x, 0), element by element.")
      .add("Relu6", "relu6(x)", &ops::relu6, "min(max(x, 0), 6), element by element.")
      .add("Sigmoid", "sigmoid(x)", &ops::sigmoid, "1 / (1 + exp(-x)).")
      .add("SparseSigmoid", "sparse_sigmoid(x)", &ops::sparse_sigmoid,
           "0 for x <= -1, 1 for x >= 1, (x + 1) / 2 between.")
      .add("Softplus", "softplus(x)", &ops::softplus, "log(1 + exp(x))")
      .add("Softsign", "softsign(x)", &ops::softsign, "x / (1 + |x|)")
      .add("SoftShrink", "soft_shrink(x, threshold=0.5)", &ops::soft_shrink,
           "x moved towards 0 by the threshold; 0 where |x| is at most the threshold.")
      .add("SparsePlus", "sparse_plus(x)", &ops::sparse_plus,
           "0 for x <= -1, x for x >= 1, (x + 1)^2 / 4 between.")
      .add("Silu", "silu|swish(x)", &ops::silu, "x * sigmoid(x), element by element.")
      .add("Squareplus", "squareplus(x, b=4)", &ops::squareplus, "(x + sqrt(x^2 + b)) / 2")
      .add("LogSigmoid", "log_sigmoid(x)", &ops::log_sigmoid, "The logarithm of sigmoid(x).")
      .add("LeakyRelu", "leaky_relu(x, negative_slope=0.2)", &ops::leaky_relu,
           "x for positive elements, else negative_slope * x.")
      .add("HardSigmoid", "hard_sigmoid(x)", &ops::hard_sigmoid, "clip(x / 6 + 0.5, 0, 1)")
      .add("HardSilu", "hard_silu|hard_swish(x)", &ops::hard_silu, "x * relu6(x + 3) / 6.")
      .add("Elu", "elu(x, alpha=1.0)", &ops::elu,
           "x for positive elements, else alpha * (exp(x) - 1).")
      .add("Selu", "selu(x)", &ops::selu,
           "Scaled elu, which keeps mean 0 and variance 1 in deep networks.")
      .add("Gelu", "gelu(x, approximate=True)", &ops::gelu,
           "x * P(X <= x) for a standard normal X; approximate = true uses tanh.")
      .add("Celu", "celu(x, alpha=1.0)", &ops::celu,
           "x for positive elements, else alpha * (exp(x / alpha) - 1).")
      .add("Glu", "glu(x, axis=-1)", &ops::glu,
           "Gated linear unit: the first half of an axis times the sigmoid of the second half.")
      .add("TanhShrink", "tanh_shrink(x)", &ops::tanh_shrink, "x - tanh(x).")
      .add(
          "HardTanh", "hard_tanh(x)", [](const Tensor& x) { return ops::hard_tanh(x, -1, 1); },
          "x limited to the range from -1 to 1.")
      .add("HardShrink", "hard_shrink(x, threshold=0.5)", &ops::hard_shrink,
           "x where |x| exceeds the threshold, else 0.")
      .add("Threshold", "threshold(x, threshold, default_value)", &ops::threshold,
           "x where it exceeds the threshold, else default_value.")
      .add(
          "Softmax", "softmax(x, axis=-1)",
          [](const Tensor& x, const ops::Axes& axes) { return ops::softmax(x, axes); },
          "exp(x) divided by its sum along an axis.")
      .add(
          "LogSoftmax", "log_softmax(x, axis=-1)",
          [](const Tensor& x, const ops::Axes& axes) { return ops::log_softmax(x, axes); },
          "The logarithm of softmax along an axis.")
      .add("Sparsemax", "sparsemax(x, axis=-1)", &ops::sparsemax,
           "The Euclidean projection onto the probability simplex along an axis.");
}

}  // namespace crescent::operations

// Activation functions and related operations.
#include "crescent/ops/activations.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {

CRESCENT_REGISTER(activations) {
  Operations(registry, "keras.src.ops.nn")
      .add("Relu", "relu(x)", &ops::relu, "max(x, 0)")
      .add("Relu6", "relu6(x)", &ops::relu6, "The larger of x and 0, at most 6.")
      .add("Sigmoid", "sigmoid(x)", &ops::sigmoid, "1 / (1 + exp(-x)).")
      .add("SparseSigmoid", "sparse_sigmoid(x)", &ops::sparse_sigmoid,
           "0 up to -1, 1 from 1 on, (x + 1) / 2 between.")
      .add("Softplus", "softplus(x)", &ops::softplus, "log(1 + exp(x))")
      .add("Softsign", "softsign(x)", &ops::softsign, "x / (1 + |x|)")
      .add("SoftShrink", "soft_shrink(x, threshold=0.5)", &ops::soft_shrink,
           "x moved towards 0 by the threshold; 0 within it.")
      .add("SparsePlus", "sparse_plus(x)", &ops::sparse_plus,
           "0 up to -1, x from 1 on, (x + 1)^2 / 4 between.")
      .add("Silu", "silu|swish(x)", &ops::silu, "x * sigmoid(x)")
      .add("Squareplus", "squareplus(x, b=4)", &ops::squareplus, "(x + sqrt(x^2 + b)) / 2")
      .add("LogSigmoid", "log_sigmoid(x)", &ops::log_sigmoid, "The logarithm of sigmoid(x).")
      .add("LeakyRelu", "leaky_relu(x, negative_slope=0.2)", &ops::leaky_relu,
           "x where it is positive, else negative_slope * x.")
      .add("HardSigmoid", "hard_sigmoid(x)", &ops::hard_sigmoid, "clip(x / 6 + 0.5, 0, 1)")
      .add("HardSilu", "hard_silu|hard_swish(x)", &ops::hard_silu, "x * relu6(x + 3) / 6.")
      .add("Elu", "elu(x, alpha=1.0)", &ops::elu,
           "x where it is positive, else alpha * (exp(x) - 1).")
      .add("Selu", "selu(x)", &ops::selu, "elu scaled so that networks keep mean 0 and variance 1.")
      .add("Gelu", "gelu(x, approximate=True)", &ops::gelu,
           "x times the share of the normal distribution below x; approximate: by tanh.")
      .add("Celu", "celu(x, alpha=1.0)", &ops::celu,
           "x where it is positive, else alpha * (exp(x / alpha) - 1).")
      .add("Glu", "glu(x, axis=-1)", &ops::glu,
           "The first half * sigmoid(the second half) of an axis.")
      .add("TanhShrink", "tanh_shrink(x)", &ops::tanh_shrink, "x - tanh(x).")
      .add(
          "HardTanh", "hard_tanh(x)", [](const Tensor& x) { return ops::hard_tanh(x, -1, 1); },
          "x within -1 and 1.")
      .add("HardShrink", "hard_shrink(x, threshold=0.5)", &ops::hard_shrink,
           "x where it is beyond the threshold, else 0.")
      .add("Threshold", "threshold(x, threshold, default_value)", &ops::threshold,
           "default_value where x is not above the threshold.")
      .add(
          "Softmax", "softmax(x, axis=-1)",
          [](const Tensor& x, const ops::Axes& axes) { return ops::softmax(x, axes); },
          "Exponentials divided by their sum along an axis.")
      .add(
          "LogSoftmax", "log_softmax(x, axis=-1)",
          [](const Tensor& x, const ops::Axes& axes) { return ops::log_softmax(x, axes); },
          "The logarithm of softmax.")
      .add("Sparsemax", "sparsemax(x, axis=-1)", &ops::sparsemax,
           "The nearest point whose numbers along an axis are not negative and sum to 1.");
}

}  // namespace crescent::operations

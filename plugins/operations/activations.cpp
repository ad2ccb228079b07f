// Activation functions and what is near them.
#include "crescent/ops/activations.h"

#include "families.h"

namespace crescent::operations {

void add_activations(Registry& registry) {
  Operations(registry, "keras.src.ops.nn")
      .add("Relu", "relu(x)", &ops::relu, "max(x, 0)")
      .add("Relu6", "relu6(x)", &ops::relu6)
      .add("Sigmoid", "sigmoid(x)", &ops::sigmoid)
      .add("SparseSigmoid", "sparse_sigmoid(x)", &ops::sparse_sigmoid)
      .add("Softplus", "softplus(x)", &ops::softplus, "log(1 + exp(x))")
      .add("Softsign", "softsign(x)", &ops::softsign, "x / (1 + |x|)")
      .add("SoftShrink", "soft_shrink(x, threshold=0.5)", &ops::soft_shrink)
      .add("SparsePlus", "sparse_plus(x)", &ops::sparse_plus)
      .add("Silu", "silu|swish(x)", &ops::silu, "x * sigmoid(x)")
      .add("Squareplus", "squareplus(x, b=4)", &ops::squareplus, "(x + sqrt(x^2 + b)) / 2")
      .add("LogSigmoid", "log_sigmoid(x)", &ops::log_sigmoid)
      .add("LeakyRelu", "leaky_relu(x, negative_slope=0.2)", &ops::leaky_relu)
      .add("HardSigmoid", "hard_sigmoid(x)", &ops::hard_sigmoid, "clip(x / 6 + 0.5, 0, 1)")
      .add("HardSilu", "hard_silu|hard_swish(x)", &ops::hard_silu)
      .add("Elu", "elu(x, alpha=1.0)", &ops::elu)
      .add("Selu", "selu(x)", &ops::selu)
      .add("Gelu", "gelu(x, approximate=True)", &ops::gelu)
      .add("Celu", "celu(x, alpha=1.0)", &ops::celu)
      .add("Glu", "glu(x, axis=-1)", &ops::glu,
           "The first half * sigmoid(the second half) of an axis.")
      .add("TanhShrink", "tanh_shrink(x)", &ops::tanh_shrink)
      .add("HardTanh", "hard_tanh(x)", [](const Tensor& x) { return ops::hard_tanh(x, -1, 1); })
      .add("HardShrink", "hard_shrink(x, threshold=0.5)", &ops::hard_shrink)
      .add("Threshold", "threshold(x, threshold, default_value)", &ops::threshold,
           "default_value where x is not above the threshold.")
      .add("Softmax", "softmax(x, axis=-1)",
           [](const Tensor& x, const ops::Axes& axes) { return ops::softmax(x, axes); })
      .add("LogSoftmax", "log_softmax(x, axis=-1)",
           [](const Tensor& x, const ops::Axes& axes) { return ops::log_softmax(x, axes); })
      .add("Sparsemax", "sparsemax(x, axis=-1)", &ops::sparsemax);
}

}  // namespace crescent::operations

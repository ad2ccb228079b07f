// Generators of random calls (CallGenerator in draft.h) for matrix products, normalization with
// parameters, and attention.
#include <cmath>

#include "crescent/base/error.h"
#include "random/draft.h"

namespace crescent::random_programs {
namespace {

constexpr int64_t kMaxProducts = 3'000'000;

/// Scales x so that sums of n products have about the same magnitude.
int scaled_for_sums(Draft& d, int x, int64_t n) {
  if (n < 3) return x;
  const double factor = std::exp2(-std::round(std::log2(static_cast<double>(n)) / 2));
  return d.call("multiply", {{"x1", x}, {"x2", Value(factor)}});
}

void refuse_many_products(int64_t products) {
  if (products > kMaxProducts) fail("too many products");
}

/// Adds at random a bias and an activation, which kernels apply before they store a result.
int with_epilogue(Draft& d, int x) {
  if (d.choices.one_in(2)) {
    const int bias = d.input({d.dtype(x), {d.shape(x)[-1]}});
    x = d.call("add", {{"x1", x}, {"x2", bias}});
  }
  constexpr const char* kActivations[] = {"", "relu", "sigmoid", "tanh", "silu"};
  const std::string activation = d.choices.one_of(kActivations);
  return activation.empty() ? x : d.call(activation, {{"x", x}});
}

int transposed(Draft& d, int x) {
  return d.call("swapaxes", {{"x", x}, {"axis1", Value(-1)}, {"axis2", Value(-2)}});
}

int matmul(Draft& d) {
  const int a = d.floating_value(2);
  const Shape left_shape = d.shape(a);
  const int64_t k = left_shape[-1], n = d.axis_length();
  refuse_many_products(left_shape.size() * n);
  const bool swaps_axes = d.choices.one_in(3), is_batched = d.choices.one_in(4);
  Shape right_shape = swaps_axes ? Shape{n, k} : Shape{k, n};
  if (is_batched) right_shape = left_shape.slice(0, left_shape.rank() - 2).concat(right_shape);
  const DType dtype = d.dtype(a);
  int b = d.operand([&](const TensorSpec& s) { return s.dtype == dtype && s.shape == right_shape; },
                    [&] {
                      return TensorSpec{dtype, right_shape};
                    });
  if (swaps_axes) b = transposed(d, b);
  return with_epilogue(d, scaled_for_sums(d, d.call("matmul", {{"x1", a}, {"x2", b}}), k));
}

/// x' y, as in the gradient of a weight.
int product_with_transposed(Draft& d) {
  const int a = d.floating_value(2);
  const Shape x = d.shape(a);
  if (x.rank() != 2) fail("matrices");
  const int64_t n = d.axis_length();
  refuse_many_products(x.size() * n);
  const int b = d.input({d.dtype(a), {x[0], n}});
  return with_epilogue(
      d, scaled_for_sums(d, d.call("matmul", {{"x1", transposed(d, a)}, {"x2", b}}), x[0]));
}

int gram_matrix(Draft& d) {
  const int x = d.floating_value(2);
  refuse_many_products(d.shape(x).size() * d.shape(x)[-2]);
  const int y = d.call("matmul", {{"x1", x}, {"x2", transposed(d, x)}});
  return scaled_for_sums(d, y, d.shape(x)[-1]);
}

int dot(Draft& d) {
  const int a = d.floating_value(1);
  const int64_t k = d.shape(a)[-1], n = d.axis_length();
  refuse_many_products(d.shape(a).size() * n);
  const int b = d.input({d.dtype(a), {k, n}});
  return scaled_for_sums(d, d.call("dot", {{"x1", a}, {"x2", b}}), k);
}

int vector_function(Draft& d, const char* function) {
  const int a = d.floating_value(1);
  if (d.shape(a).rank() != 1) fail("vectors");
  refuse_many_products(d.shape(a).size() * d.shape(a).size());
  const int y = d.call(function, {{"x1", a}, {"x2", d.same_shape(a)}});
  return scaled_for_sums(d, y, d.shape(a)[0]);
}

int kron(Draft& d) {
  const int a = d.floating_value(1);
  const int b = d.input({d.dtype(a), d.shape(a).rank() == 2 ? Shape{2, 3} : Shape{2}});
  return d.call("kron", {{"x1", a}, {"x2", b}});
}

int cross(Draft& d) {
  const int64_t rows = d.axis_length();
  const TensorSpec spec{d.floating_dtype(), {rows, 3}};
  const int a = d.input(spec), b = d.input(spec);
  return d.call("cross", {{"x1", a}, {"x2", b}});
}

int cdist(Draft& d) {
  const int64_t rows = d.axis_length(), second_rows = d.axis_length(),
                width = 1 + d.choices.below(5);
  refuse_many_products(rows * second_rows * width);
  const DType dtype = d.floating_dtype();
  const int a = d.input({dtype, {rows, width}}), b = d.input({dtype, {second_rows, width}});
  return d.call("cdist", {{"x", a}, {"y", b}});
}

int tensordot(Draft& d) {
  const int a = d.floating_value(2);
  const Shape shape = d.shape(a);
  const int64_t n = d.axis_length();
  refuse_many_products(shape.size() * n);
  const int b = d.input({d.dtype(a), {shape[-2], shape[-1], n}});
  return scaled_for_sums(d, d.call("tensordot", {{"x1", a}, {"x2", b}, {"axes", Value(2)}}),
                         shape[-1] * shape[-2]);
}

int einsum(Draft& d) {
  struct Equation {
    const char* text;
    int rank;
    /// For each axis of the second operand, the equal axis of the first operand; -1 if there is
    /// none.
    std::vector<int> equal_axes;
    int summed_axes;
  };
  static const Equation kEquations[] = {
      {"ab,bc->ac", 2, {1, -1}, 1},
      {"ab,cb->ca", 2, {-1, 1}, 1},
      {"abc,cd->abd", 3, {2, -1}, 2},
      {"abc,acd->abd", 3, {0, 2, -1}, 2},
      {"abcd,aebd->acbe", 4, {0, -1, 1, 3}, 3},
      {"abc,abc->ab", 3, {0, 1, 2}, 2},
      {"ab,ab->b", 2, {0, 1}, 0},
      {"abc,b->ac", 3, {1}, 1},
  };
  const Equation& equation = d.choices.one_of(kEquations);
  const int a = d.floating_value(equation.rank);
  const Shape shape = d.shape(a);
  if (shape.rank() != equation.rank) fail("another rank");
  Shape shape_b;
  int64_t new_length = 1;
  for (int axis : equation.equal_axes) {
    const int64_t n = axis < 0 ? d.axis_length() : shape[axis];
    if (axis < 0) new_length = n;
    shape_b.append(n);
  }
  refuse_many_products(shape.size() * new_length);
  if (shape_b.size() > d.max_elements()) fail("too large");
  const int b = d.input({d.dtype(a), shape_b});
  const int y = d.call(
      "einsum", {{"subscripts", Value(equation.text)}, {"operands", std::vector<int>{a, b}}});
  return scaled_for_sums(d, y, shape[equation.summed_axes]);
}

int layer_normalization(Draft& d) {
  const int x = d.floating_value(1);
  const TensorSpec channel_spec{d.dtype(x), {d.shape(x)[-1]}};
  const int gamma = d.input(channel_spec), beta = d.input(channel_spec);
  return d.call("layer_normalization",
                {{"x", x}, {"gamma", gamma}, {"beta", beta}, {"epsilon", Value(0.01)}});
}

/// Batch normalization with the mean and variance of the batch, as in training, or with a random
/// mean and variance.
int batch_normalization(Draft& d) {
  const int x = d.floating_value(2);
  const TensorSpec channel_spec{d.dtype(x), {d.shape(x)[-1]}};
  int mean, variance;
  if (d.choices.one_in(2)) {
    List axes;
    for (int i = 0; i + 1 < d.shape(x).rank(); ++i) axes.push_back(Value(i));
    mean = d.call("moments", {{"x", x}, {"axes", Value(axes)}}, 0);
    variance = d.call("moments", {{"x", x}, {"axes", Value(axes)}}, 1);
  } else {
    mean = d.input(channel_spec);
    variance = d.call("abs", {{"x", d.input(channel_spec)}});
  }
  const int offset = d.input(channel_spec), scale = d.input(channel_spec);
  return d.call("batch_normalization", {{"x", x},
                                        {"mean", mean},
                                        {"variance", variance},
                                        {"axis", Value(-1)},
                                        {"offset", offset},
                                        {"scale", scale},
                                        {"epsilon", Value(0.01)}});
}

int attention(Draft& d) {
  constexpr int64_t kWidths[] = {1, 2, 3, 5, 8, 17, 33, 64, 65};
  constexpr int64_t kSteps[] = {1, 2, 3, 5, 8, 17, 33, 64, 65, 129, 257};
  const int64_t b = 1 + d.choices.below(3), t = d.choices.one_of(kSteps),
                s = d.choices.one_of(kSteps), h = 1 + d.choices.below(3),
                w = d.choices.one_of(kWidths);
  refuse_many_products(b * t * s * h * w * 2);
  if (b * std::max(t, s) * h * w > d.max_elements()) fail("too large");
  const DType dtype = d.floating_dtype();
  const int q = d.input({dtype, {b, t, h, w}}), k = d.input({dtype, {b, s, h, w}}),
            v = d.choices.one_in(3) ? k : d.input({dtype, {b, s, h, w}});
  std::vector<Argument> arguments{{"query", q}, {"key", k}, {"value", v}};
  if (d.choices.one_in(2))
    arguments.push_back(
        {"mask", d.input({DType::boolean, {b, 1, d.choices.one_in(2) ? t : 1, s}})});
  if (d.choices.one_in(3)) arguments.push_back({"is_causal", Value(true)});
  return d.call("dot_product_attention", arguments);
}

}  // namespace

std::vector<CallGenerator> product_generators() {
  std::vector<CallGenerator> generators;
  for (int i = 0; i < 4; ++i) generators.push_back({"matmul", matmul});
  const CallGenerator more_generators[] = {
      {"matmul", product_with_transposed},
      {"matmul", gram_matrix},
      {"dot", dot},
      {"tensordot", tensordot},
      {"einsum", einsum},
      {"einsum", einsum},
      {"layer_normalization", layer_normalization},
      {"layer_normalization", layer_normalization},
      {"batch_normalization", batch_normalization},
      {"batch_normalization", batch_normalization},
      {"dot_product_attention", attention},
      {"dot_product_attention", attention},
      {"kron", kron},
      {"cross", cross},
      {"cdist", cdist},
      {"correlate", [](Draft& d) { return vector_function(d, "correlate"); }},
      {"inner", [](Draft& d) { return vector_function(d, "inner"); }},
      {"outer", [](Draft& d) { return vector_function(d, "outer"); }},
      {"vdot", [](Draft& d) { return vector_function(d, "vdot"); }},
  };
  generators.insert(generators.end(), std::begin(more_generators), std::end(more_generators));
  return generators;
}

}  // namespace crescent::random_programs

// Tests of the error bounds of ops. The results of the rules that compute the bounds are compared
// with those of the ops' kernels in float64; the bounds of propagated errors are compared with the
// op on perturbed inputs.
#include <catch2/catch.hpp>
#include <cmath>

#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"
#include "crescent/program/gradient.h"
#include "validation/check.h"

using namespace crescent;

namespace {

Tensor normal_numbers(const Shape& shape, int64_t seed, DType dtype = DType::float32) {
  return ops::cast(SeedGenerator(seed).normal(shape), dtype);
}

Validation validation_of(const std::function<Tensors(const Tensors&)>& body,
                         const Tensors& inputs) {
  TensorSpecs specs;
  for (const Tensor& input : inputs) specs.push_back(input.spec());
  Validation report;
  validation::check(validation::checked_program(trace(body, specs), false, inputs), "step", {},
                    report);
  return report;
}

/// A function that returns the results, and the gradients with respect to all inputs.
std::function<Tensors(const Tensors&)> add_gradients(std::function<Tensor(const Tensors&)> f) {
  return [f](const Tensors& in) {
    GradientTape tape;
    for (const Tensor& t : in) tape.watch(t);
    const Tensor y = f(in);
    const Tensor loss = ops::sum(ops::sin(ops::cast(y, DType::float32)));
    tape.stop();
    Tensors results{y};
    for (const Tensor& g : tape.gradient(loss, in))
      if (g) results.push_back(g);
    return results;
  };
}

struct BoundedFunction {
  const char* name;
  std::vector<Shape> shapes;
  std::function<Tensor(const Tensors&)> f;
};

const std::vector<BoundedFunction>& bounded_functions() {
  using namespace ops;
  static const std::vector<BoundedFunction> bounded_functions = {
      {"products", {{17, 33}, {33, 9}}, [](const Tensors& in) { return matmul(in[0], in[1]); }},
      {"batches",
       {{3, 1, 5, 7}, {4, 7, 6}},
       [](const Tensors& in) { return matmul(in[0], in[1]); }},
      {"transposed",
       {{9, 6}, {5, 9}},
       [](const Tensors& in) { return matmul(in[0], in[1], true, true); }},
      {"winograd",
       {{2, 12, 13, 16}, {3, 3, 16, 16}},
       [](const Tensors& in) { return conv(in[0], in[1], {1}, Padding::same); }},
      {"strides",
       {{2, 9, 8, 3}, {3, 2, 3, 4}},
       [](const Tensors& in) { return conv(in[0], in[1], {2}, Padding::valid); }},
      {"groups",
       {{2, 7, 7, 4}, {3, 3, 1, 8}},
       [](const Tensors& in) { return conv(in[0], in[1], {1}, Padding::same, {1}, 4); }},
      {"dilation",
       {{2, 15, 3}, {3, 3, 5}},
       [](const Tensors& in) { return conv(in[0], in[1], {1}, Padding::same, {2}); }},
      {"max pooling",
       {{2, 7, 7, 3}},
       [](const Tensors& in) { return max_pool(relu(in[0]), {3}, {2}, Padding::same); }},
      {"average pooling",
       {{2, 7, 7, 3}},
       [](const Tensors& in) { return average_pool(in[0], {2}, {1}, Padding::same); }},
      {"softmax", {{6, 10}}, [](const Tensors& in) { return softmax(in[0] * 5.0); }},
      {"log softmax", {{6, 10}}, [](const Tensors& in) { return log_softmax(in[0]); }},
      {"layer norm",
       {{5, 12}, {12}, {12}},
       [](const Tensors& in) { return layer_norm(in[0], in[1], in[2], 1e-3); }},
      {"batch norm",
       {{8, 3, 4}, {4}, {4}},
       [](const Tensors& in) { return batch_norm_train(in[0], in[1], in[2], 1e-3).y; }},
      {"moving elements",
       {{4, 6, 5}},
       [](const Tensors& in) {
         const Tensor t = transpose(in[0], {2, 0, 1});
         const Tensor parts[] = {slice_axis(t, 1, 1, 3), slice_axis(t, 1, 0, 4)};
         return concatenate(parts, 1) * 2.0;
       }},
      {"functions",
       {{40}},
       [](const Tensors& in) {
         const Tensor& x = in[0];
         return exp(x) + tanh(x) * sigmoid(x) + sqrt(abs(x) + 0.1) + log1p(square(x)) + erf(x) +
                arctan(x) + softplus(x) + gelu(x, true) + power(abs(x) + 0.5, 1.7);
       }},
      {"reductions",
       {{7, 90}},
       [](const Tensors& in) {
         return sum(in[0], {1}) + max(in[0], {1}) * mean(in[0], {1}) + prod(in[0] * 0.1 + 1.0, {1});
       }},
      {"running sums", {{3, 70}}, [](const Tensors& in) { return cumsum(in[0], 1, true); }},
      {"lstm",
       {{3, 6, 4}, {3, 5}, {3, 5}, {4, 20}, {5, 20}, {20}},
       [](const Tensors& in) { return lstm(in[0], in[1], in[2], in[3], in[4], in[5]).sequence; }},
      {"gru",
       {{3, 6, 4}, {3, 5}, {4, 15}, {5, 15}, {2, 15}},
       [](const Tensors& in) { return gru(in[0], in[1], in[2], in[3], in[4]).sequence; }},
  };
  return bounded_functions;
}

}  // namespace

TEST_CASE("every family of ops and its gradient is within its bounds in every floating dtype") {
  for (const BoundedFunction& function : bounded_functions()) {
    for (DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16}) {
      INFO(function.name << " in " << name_of(dtype));
      Tensors inputs;
      for (const Shape& shape : function.shapes)
        inputs.push_back(normal_numbers(shape, static_cast<int64_t>(inputs.size()) + 5, dtype));
      const Validation report = validation_of(add_gradients(function.f), inputs);
      for (const Finding& f : report.findings)
        FAIL_CHECK(f.instruction << " by " << f.kernel << f.pass << ": got " << f.got
                                 << ", expected " << f.expected << ", bound " << f.bound);
      CHECK(static_cast<double>(report.undecided) < 0.05 * static_cast<double>(report.elements));
    }
  }
}

TEST_CASE("what is too large for its dtype may be NaN behind it, also times zero") {
  // The squares are 90,000 in the first row, which exceeds float16; the others are small.
  const Tensor x = ops::concatenate({{Tensor::full({1, 6, 6, 3}, 300, DType::float16),
                                      normal_numbers({2, 6, 6, 3}, 1, DType::float16)}},
                                    0);
  const auto squares = [](const Tensor& t) { return t * t; };
  struct {
    const char* name;
    std::function<Tensor(const Tensor&)> f;
  } const named_functions[] = {
      {"multiply", [](const Tensor& t) { return t * ops::zeros_like(t); }},
      {"tanh", [](const Tensor& t) { return ops::tanh(t - t); }},
      {"maximum", [](const Tensor& t) { return ops::maximum(t - t, ops::zeros_like(t)); }},
      {"greatest", [](const Tensor& t) { return ops::max(t - t, {1}); }},
      {"product", [](const Tensor& t) { return ops::prod(ops::relu(t) * 0.0, {3}); }},
      {"matmul",
       [](const Tensor& t) {
         return ops::matmul(t, Tensor::full({3, 4}, 0, DType::float16));
       }},
      {"convolution",
       [](const Tensor& t) {
         return ops::conv(t, Tensor::full({3, 3, 3, 16}, 0, DType::float16), {1},
                          ops::Padding::same);
       }},
      {"max pooling",
       [](const Tensor& t) { return ops::max_pool(t - t, {2}, {2}, ops::Padding::same); }},
      {"top", [](const Tensor& t) { return ops::top_k(t - t, 2).front(); }},
  };
  for (const auto& function : named_functions) {
    INFO(function.name);
    const Validation report =
        validation_of([&](const Tensors& in) { return Tensors{function.f(squares(in[0]))}; }, {x});
    for (const Finding& f : report.findings)
      FAIL_CHECK(f.instruction << " by " << f.kernel << f.pass << ": got " << f.got << ", expected "
                               << f.expected << ", bound " << f.bound);
    CHECK(report.undecided > 0);
    CHECK(2 * report.undecided < report.elements);
  }
}

TEST_CASE("sums of what is too small for its dtype lose it term by term") {
  const std::function<Tensor(const Tensor&, const Tensor&)> sums[] = {
      [](const Tensor& a, const Tensor& b) { return ops::matmul(a, b); },
      [](const Tensor& a, const Tensor& b) { return ops::sum(a * ops::transpose(b), {1}); },
      [](const Tensor& a, const Tensor& b) { return ops::cumsum(a * ops::transpose(b), 1); },
      [](const Tensor& a, const Tensor& b) { return a * 1e-19 - ops::transpose(b) * 1e-19; },
  };
  for (DType dtype : {DType::float32, DType::bfloat16}) {
    const Tensor a = normal_numbers({40, 40}, 1, dtype) * 1e-19,
                 b = normal_numbers({40, 40}, 2, dtype) * 1e-19;
    for (size_t i = 0; i < std::size(sums); ++i) {
      INFO("sum " << i << " in " << name_of(dtype));
      const Validation report =
          validation_of([&](const Tensors& in) { return Tensors{sums[i](in[0], in[1])}; }, {a, b});
      CHECK(report.elements > 0);
      for (const Finding& f : report.findings)
        FAIL_CHECK(f.instruction << " by " << f.kernel << f.pass << ": got " << f.got
                                 << ", expected " << f.expected << ", bound " << f.bound);
    }
  }
}

// Matrix products a'b that also sum the rows of b: the gradients of a weight and of the bias of the
// same layer.
#include <catch2/catch.hpp>
#include <cmath>

#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "distance.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu::test;

namespace {

struct Gradients {
  std::vector<double> weight, bias;
  size_t steps;
};

/// The gradients of a weight and a bias for inputs x (k,m) and the upstream gradient dy (k,n). With
/// `updates_weight` the weight is updated with its gradient, as an optimizer does.
Gradients gradients(const Tensor& x, const Tensor& dy, bool updates_weight) {
  const Variable w(Tensor::full({x.dim(1), dy.dim(1)}, 1.0));
  const Program program = optimize(trace(
      [&](const Tensors& in) {
        const Tensor bias = ops::sum(in[1], {0});
        const Tensor weight = ops::matmul(ops::transpose(in[0]), in[1]);
        if (!updates_weight) return Tensors{bias, weight};
        w.assign(w.value() - weight);
        return Tensors{bias};
      },
      TensorSpecs{x.spec(), dy.spec()}));
  auto executable = compile(program, test_device());
  Tensors variables, outputs = outputs_of(program);
  for (const Program::Binding& b : program.variables)
    variables.push_back(b.variable.value() + 0.0f);
  executable->run(Tensors{x, dy}, variables, outputs);
  return {(updates_weight ? variables[0] : outputs[1]).to_vector(), outputs[0].to_vector(),
          executable->rows().size()};
}

std::vector<double> column_sums(const Tensor& dy) {
  const std::vector<double> values = dy.to_vector();
  std::vector<double> sums(static_cast<size_t>(dy.dim(1)));
  for (size_t i = 0; i < values.size(); ++i) sums[i % sums.size()] += values[i];
  return sums;
}

}  // namespace

TEST_CASE("a product gives the sums of the columns that it multiplies with", "[cpu][column_sums]") {
  const int64_t sizes[][3] = {{128, 512, 2048}, {512, 128, 2048}, {784, 512, 128}, {200, 97, 64},
                              {96, 33, 2100},   {40, 300, 130},   {513, 65, 700},  {7, 200, 500}};
  for (const auto& [m, n, k] : sizes) {
    const Tensor x = sines({k, m}, 1), dy = sines({k, n}, 2);
    const std::vector<double> expected_sums = column_sums(dy);
    for (bool updates_weight : {false, true}) {
      std::optional<Gradients> first;
      for (int threads : {1, 2, 3, 9}) {
        CAPTURE(m, n, k, updates_weight, threads);
        test_device().set_threads(threads);
        const Gradients got = gradients(x, dy, updates_weight);
        CHECK(farthest(got.bias, expected_sums) < 2e-6 * std::sqrt(static_cast<double>(k)));
        if (!first) first = got;
        const bool is_same = got.bias == first->bias && got.weight == first->weight;
        CHECK(is_same);
        if (!updates_weight) CHECK(got.steps == 1);
      }
    }
  }
  test_device().set_threads(0);
}

TEST_CASE("sums that are read before the product stay a step of their own", "[cpu][column_sums]") {
  const Tensor x = sines({300, 200}, 1), dy = sines({300, 100}, 2);
  const Program program = optimize(trace(
      [&](const Tensors& in) {
        const Tensor bias = ops::sum(in[1], {0});
        const Tensor scaled_x = in[0] * ops::sum(bias);
        return Tensors{bias, ops::matmul(ops::transpose(scaled_x), in[1])};
      },
      TensorSpecs{x.spec(), dy.spec()}));
  const Tensors outputs = results_of(program, {x, dy});
  double sum = 0;
  for (double s : column_sums(dy)) sum += s;
  std::vector<double> expected_sums = ops::matmul(ops::transpose(x), dy).to_vector();
  for (double& weight : expected_sums) weight *= sum;
  CHECK(farthest(outputs[1].to_vector(), expected_sums) < 1e-3);
}

TEST_CASE("other reductions of the columns are not made with a product", "[cpu][column_sums]") {
  const Tensor x = sines({2048, 128}, 1), dy = sines({2048, 512}, 2);
  for (auto* reduce : {ops::max, ops::min, ops::prod}) {
    const Program program = optimize(trace(
        [&](const Tensors& in) {
          return Tensors{reduce(in[1], {0}, false), ops::matmul(ops::transpose(in[0]), in[1])};
        },
        TensorSpecs{x.spec(), dy.spec()}));
    CHECK(results_of(program, {x, dy})[0].to_vector() == reduce(dy, {0}, false).to_vector());
  }
}

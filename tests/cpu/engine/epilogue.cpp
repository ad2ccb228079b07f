// Elementwise steps that are fused with the matrix product whose result they read.
#include <catch2/catch.hpp>
#include <functional>

#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "matmul/amx.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu::test;

namespace {

/// The gradient of a weight for inputs x (k,m) and the upstream gradient dy (k,n). The product is
/// computed in float32 or, if `uses_bfloat16` is true, in bfloat16.
Tensor gradient(const Tensor& x, const Tensor& dy, bool uses_bfloat16) {
  if (!uses_bfloat16) return ops::matmul(ops::transpose(x), dy);
  const auto to_bfloat16 = [](const Tensor& t) { return ops::cast(t, DType::bfloat16); };
  return ops::cast(ops::matmul(ops::transpose(to_bfloat16(x)), to_bfloat16(dy)), DType::float32);
}

/// A program that updates w and momentum with a gradient. If `outputs_gradient` is true, the
/// gradient is also an output, so that it must be stored as a whole.
Program update_program(const Variable& w, const Variable& momentum, const TensorSpecs& specs,
                       bool uses_bfloat16, bool outputs_gradient) {
  return optimize(trace(
      [&](const Tensors& in) {
        const Tensor g = gradient(in[0], in[1], uses_bfloat16);
        momentum.assign(momentum.value() * in[2] + g);
        w.assign(w.value() - momentum.value() * ops::sqrt(in[2]));
        return outputs_gradient ? Tensors{g} : Tensors{};
      },
      specs));
}

struct UpdatedVariables {
  std::vector<double> w, momentum, gradient;
  size_t step_count;
  bool operator==(const UpdatedVariables& other) const {
    return w == other.w && momentum == other.momentum;
  }
};

UpdatedVariables run(const Program& program, const Tensors& inputs, const Shape& shape) {
  auto executable = compile(program, test_device());
  Tensors variables, outputs = outputs_of(program);
  for (const Program::Binding& b : program.variables)
    variables.push_back(b.variable.value() + 0.0f);
  for (int i = 0; i < 3; ++i) executable->run(inputs, variables, outputs);
  CHECK(variables[0].shape() == shape);
  return {variables[0].to_vector(), variables[1].to_vector(),
          outputs.empty() ? std::vector<double>{} : outputs[0].to_vector(),
          executable->rows().size()};
}

}  // namespace

TEST_CASE("an update within the product that makes its gradient gives the same bits",
          "[cpu][epilogue]") {
  const int64_t sizes[][3] = {{784, 512, 128}, {200, 96, 64},   {300, 33, 2100}, {600, 96, 90},
                              {512, 10, 128},  {512, 700, 300}, {900, 300, 40},  {40, 30, 20}};
  for (const auto& [m, n, k] : sizes) {
    for (bool uses_bfloat16 : {false, true}) {
      const Variable w(sines({m, n}, 1)), momentum(sines({m, n}, 2));
      const Tensors inputs = {sines({k, m}, 3), sines({k, n}, 4), Tensor::full({}, 0.9f)};
      const TensorSpecs specs = {inputs[0].spec(), inputs[1].spec(), inputs[2].spec()};
      const UpdatedVariables want =
          run(update_program(w, momentum, specs, uses_bfloat16, true), inputs, {m, n});
      const auto expected_gradient = gradient(inputs[0], inputs[1], uses_bfloat16).to_vector();
      for (size_t i = 0; i < expected_gradient.size(); i += 7)
        REQUIRE(want.gradient[i] ==
                Approx(expected_gradient[i]).epsilon(uses_bfloat16 ? 0.01 : 1e-4).margin(0.01));
      for (int threads : {1, 2, 3, 9}) {
        CAPTURE(m, n, k, uses_bfloat16, threads);
        test_device().set_threads(threads);
        const UpdatedVariables got =
            run(update_program(w, momentum, specs, uses_bfloat16, false), inputs, {m, n});
        CHECK(got == want);
        CHECK(got.step_count <= want.step_count);
        if (m == 600 && (!uses_bfloat16 || crescent::cpu::amx::available()))
          CHECK(got.step_count < want.step_count);
      }
    }
  }
  test_device().set_threads(0);
}

TEST_CASE("an update waits for those who read the old weight", "[cpu][epilogue]") {
  const int64_t m = 600, n = 96, k = 60;
  const Variable w(sines({m, n}, 1));
  const Tensors inputs = {sines({k, m}, 3), sines({k, n}, 4)};
  const TensorSpecs specs = {inputs[0].spec(), inputs[1].spec()};
  const Program program = optimize(trace(
      [&](const Tensors& in) {
        const Tensor old_weight = w.value(), g = gradient(in[0], in[1], false),
                     late_product = ops::matmul(in[1], ops::transpose(old_weight));
        w.assign(old_weight - g);
        return Tensors{late_product};
      },
      specs));
  Tensors variables = {w.value() + 0.0f}, outputs = {Tensor(Shape{k, m}, DType::float32)};
  auto executable = compile(program, test_device());
  CHECK(executable->rows().size() == 2);
  executable->run(inputs, variables, outputs);
  CHECK(outputs[0].to_vector() == ops::matmul(inputs[1], ops::transpose(w.value())).to_vector());
  CHECK(variables[0].to_vector() ==
        (w.value() - gradient(inputs[0], inputs[1], false)).to_vector());
}

TEST_CASE("what follows a product finds weights that were packed before", "[cpu][epilogue]") {
  const int64_t m = 2048, n = 336, k = 128;  // n is three column tiles of 112
  const Variable w(sines({k, n}, 1));
  const Tensors inputs = {sines({m, k}, 2), sines({k, n}, 1)};
  const TensorSpecs specs = {inputs[0].spec(), inputs[1].spec()};
  auto run = [&](bool is_stable) {
    const Program program = optimize(
        trace(
            [&](const Tensors& in) {
              return Tensors{ops::gelu(ops::matmul(in[0], is_stable ? w.value() : in[1]), false)};
            },
            specs),
        {.inference = true});
    Tensors variables, outputs = {Tensor(Shape{m, n}, DType::float32)};
    for (const Program::Binding& b : program.variables) variables.push_back(b.variable.value());
    compile(program, test_device())->run(inputs, variables, outputs);
    return outputs[0].to_vector();
  };
  // The results are compared as one boolean, so that a failure does not print 688,128 numbers.
  const bool is_same = run(true) == run(false);
  CHECK(is_same);
}

namespace {

/// Compares compiled results with those of eager execution.
void check_steps(const std::function<Tensors(const Tensors&)>& f, const Tensors& inputs) {
  TensorSpecs specs;
  for (const Tensor& x : inputs) specs.push_back(x.spec());
  const Tensors outputs = results_of(optimize(trace(f, specs)), inputs), wanted = f(inputs);
  for (size_t i = 0; i < wanted.size(); ++i)
    CHECK(ops::max(ops::abs(outputs[i] - wanted[i])).item() < 1e-3);
}

}  // namespace

TEST_CASE("what a product is made of is not written over by what follows it", "[cpu][epilogue]") {
  check_steps(
      [](const Tensors& in) {
        const Tensor g = gradient(ops::tanh(in[0]), ops::tanh(in[1]), false);
        // All intermediate values before flip are in the arena, the block of memory that they
        // share, where a later one could overwrite an earlier one.
        return Tensors{ops::flip(ops::tanh(g * in[2]), {0})};
      },
      {sines({96, 600}, 1), sines({96, 96}, 2), sines({600, 96}, 3)});
}

TEST_CASE("a product that others read too is made as a whole", "[cpu][epilogue]") {
  check_steps(
      [](const Tensors& in) {
        const Tensor g = gradient(in[0], in[1], false);
        return Tensors{in[2] - g * ops::sqrt(in[3]), ops::softmax(g, -1)};
      },
      {sines({60, 600}, 1), sines({60, 96}, 2), sines({600, 96}, 3), Tensor::full({}, 0.9f)});
}

TEST_CASE("what an update needs beside its gradient is made before, all of it", "[cpu][epilogue]") {
  check_steps(
      [](const Tensors& in) {
        const Tensor g = gradient(in[0], in[1], false);
        const Tensor scaled_maximum = ops::max(ops::softmax(ops::sum(in[3]) * in[3]));
        return Tensors{in[2] - g * scaled_maximum};
      },
      {sines({60, 600}, 1), sines({60, 96}, 2), sines({600, 96}, 3), sines({4}, 4)});
}

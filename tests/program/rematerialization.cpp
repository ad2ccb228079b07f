// Rematerialization: results stay the same, memory falls, and ops that must run once are not run
// again.
#include "program/recording/rematerialization.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "compile/passes/passes.h"
#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"
#include "crescent/program/communicator.h"
#include "crescent/program/gradient.h"
#include "program/recording/recorder.h"

namespace crescent {
namespace {

constexpr int64_t kRows = 64, kWidth = 32;

/// The gradient of `layer_count` equal layers with respect to the weight that they share.
Tensors chain_gradient(const Tensors& in, int layer_count) {
  GradientTape tape;
  tape.watch(in[1]);
  Tensor x = in[0];
  for (int i = 0; i < layer_count; ++i) x = ops::tanh(ops::matmul(x, in[1]));
  return {tape.gradient(ops::sum(ops::square(x)), Tensors{in[1]})[0]};
}

TensorSpecs chain_specs() {
  return {{DType::float32, {kRows, kWidth}}, {DType::float32, {kWidth, kWidth}}};
}

using Body = std::function<Tensors(const Tensors&)>;

Program traced(const Body& body, const TensorSpecs& specs, bool has_rematerialization) {
  return trace(
      [&](const Tensors& in) {
        if (has_rematerialization) Recorder::current()->rematerialize();
        return body(in);
      },
      specs);
}

size_t chain_bytes(int layer_count, bool has_rematerialization) {
  const Body body = [layer_count](const Tensors& in) { return chain_gradient(in, layer_count); };
  return compile(optimize(traced(body, chain_specs(), has_rematerialization)))->arena_bytes();
}

Tensors run(const Program& program, const Tensors& inputs) {
  Tensors outputs, no_variables;
  for (int value : program.outputs)
    outputs.push_back(Tensor::uninitialized(program.values[static_cast<size_t>(value)]));
  compile(program)->run(inputs, no_variables, outputs);
  return outputs;
}

Tensors arguments(const TensorSpecs& specs) {
  const SeedGenerator random(7);
  Tensors tensors;
  for (const TensorSpec& spec : specs) tensors.push_back(random.normal(spec.shape) * 0.3);
  return tensors;
}

int64_t op_count(const Program& program, std::string_view op) {
  return std::count_if(program.code.begin(), program.code.end(),
                       [&](const Program::Instruction& i) { return i.op->name() == op; });
}

}  // namespace

TEST_CASE("gradients of rematerialized programs have the same bits") {
  for (int layer_count : {1, 2, 3, 7, 20, 64}) {
    const Body body = [layer_count](const Tensors& in) { return chain_gradient(in, layer_count); };
    const Tensors in = arguments(chain_specs());
    const Program plain_program = traced(body, chain_specs(), false),
                  recomputing_program = traced(body, chain_specs(), true);
    passes::validate(recomputing_program);
    INFO(layer_count << " layers");
    CHECK((recomputing_program.code.size() > plain_program.code.size()) == (layer_count > 2));
    CHECK(run(optimize(recomputing_program), in)[0].to_vector() ==
          run(optimize(plain_program), in)[0].to_vector());
    CHECK(run(recomputing_program, in)[0].to_vector() == run(plain_program, in)[0].to_vector());
  }
}

TEST_CASE("the memory of a rematerialized chain grows with the root of its depth") {
  const size_t layer_bytes = kRows * kWidth * sizeof(float);
  CHECK(chain_bytes(64, false) > 64 * layer_bytes);
  CHECK(chain_bytes(64, true) < 24 * layer_bytes);
  CHECK(chain_bytes(256, true) < 44 * layer_bytes);
  CHECK(chain_bytes(1024, true) < 84 * layer_bytes);
}

TEST_CASE("each layer of a rematerialized chain is computed twice at most") {
  const Body body = [](const Tensors& in) { return chain_gradient(in, 100); };
  const int64_t plain_count = op_count(traced(body, chain_specs(), false), Unary::kName),
                recomputed_count = op_count(traced(body, chain_specs(), true), Unary::kName);
  CHECK(recomputed_count > plain_count);
  CHECK(recomputed_count <= plain_count + 100);
}

TEST_CASE("values that are computed again are drawn from the same random numbers") {
  const TensorSpecs specs{{DType::float32, {256}}};
  const auto step = [&](bool has_rematerialization) {
    const SeedGenerator random(3);
    const Function function([&](const Tensors& in) {
      if (has_rematerialization) Recorder::current()->rematerialize();
      GradientTape tape;
      tape.watch(in[0]);
      Tensor x = in[0];
      for (int i = 0; i < 12; ++i) x = ops::tanh(x) * random.uniform({256}, 0, 1);
      return Tensors{tape.gradient(ops::sum(x), in)[0]};
    });
    std::vector<double> all_numbers;
    for (int i = 0; i < 3; ++i)
      for (double number : function(arguments(specs))[0].to_vector()) all_numbers.push_back(number);
    return all_numbers;
  };
  CHECK(step(true) == step(false));
}

TEST_CASE("all results of an op that is computed again are those of the original") {
  const Body body = [](const Tensors& in) {
    GradientTape tape;
    tape.watch(in[0]);
    Tensor x = in[0];
    for (int i = 0; i < 12; ++i) x = ops::sin(ops::top_k(x, 8)[0]) + x * 0.5;
    return Tensors{tape.gradient(ops::sum(x), in)[0]};
  };
  const TensorSpecs specs{{DType::float32, {64, 8}}};
  const Program plain_program = traced(body, specs, false),
                recomputing_program = traced(body, specs, true);
  CHECK(op_count(recomputing_program, "top_k") > op_count(plain_program, "top_k"));
  CHECK(run(optimize(recomputing_program), arguments(specs))[0].to_vector() ==
        run(optimize(plain_program), arguments(specs))[0].to_vector());
}

TEST_CASE("ops with effects are not computed again") {
  const Body body = [](const Tensors& in) {
    GradientTape tape;
    tape.watch(in[0]);
    Tensor x = in[0];
    for (int i = 0; i < 16; ++i) x = ops::all_reduce(ops::tanh(x)) * x;
    return Tensors{tape.gradient(ops::sum(x), in)[0]};
  };
  const TensorSpecs specs{{DType::float32, {64, 8}}};
  const Program plain_program = traced(body, specs, false),
                recomputing_program = traced(body, specs, true);
  CHECK(recomputing_program.code.size() > plain_program.code.size());
  CHECK(op_count(recomputing_program, "all_reduce") == op_count(plain_program, "all_reduce"));
  CHECK(run(optimize(recomputing_program), arguments(specs))[0].to_vector() ==
        run(optimize(plain_program), arguments(specs))[0].to_vector());
}

TEST_CASE("what passes a cut is kept, and the last segment as a whole") {
  const Body body = [](const Tensors& in) {
    GradientTape tape;
    tape.watch(in[0]);
    const Tensor a = ops::exp(in[0]), b = ops::exp(a), c = ops::exp(b);
    return Tensors{tape.gradient(c, in)[0]};
  };
  const TensorSpecs specs{{DType::float32, {4}}};
  const Program plain_program = traced(body, specs, false);
  const auto copy_count = [&](std::vector<size_t> cuts) {
    const Program with_copies = rematerialized(plain_program, 3, std::move(cuts));
    passes::validate(with_copies);
    return op_count(with_copies, Unary::kName) - op_count(plain_program, Unary::kName);
  };
  CHECK(copy_count({}) == 0);
  CHECK(copy_count({1}) == 0);  // a passes the cut
  CHECK(copy_count({2}) == 1);  // a is computed again, and b passes the cut
  CHECK(copy_count({3}) == 3);
  CHECK(rematerialized(plain_program, 0).text() == plain_program.text());
  CHECK(rematerialized(plain_program, 1000).text() == plain_program.text());
}

}  // namespace crescent

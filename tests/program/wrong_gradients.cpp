// Ops whose vjp() does not return one gradient of the right shape and dtype for each input must
// give an error.
#include <catch2/catch.hpp>

#include "crescent/ops/ops.h"
#include "crescent/program/gradient.h"
#include "crescent/program/program.h"

using namespace crescent;

namespace {

/// An op (a, b) -> a + b; `compute_gradients` computes its gradients from the upstream gradient.
struct WrongGradientOp final : Op {
  using GradientFunction = std::function<Tensors(const Tensor&)>;
  explicit WrongGradientOp(GradientFunction gradients) : compute_gradients(std::move(gradients)) {}
  std::string_view name() const override { return "careless"; }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  Tensors decompose(std::span<const Tensor> in) const override { return {ops::add(in[0], in[1])}; }
  Tensors vjp(const Vjp& v) const override { return compute_gradients(v.gradients[0]); }
  bool equals(const Op& other) const override { return this == &other; }
  size_t hash() const override { return 1; }
  std::string text() const override { return "careless"; }
  GradientFunction compute_gradients;
};

/// The error message for these gradients, "" if they are accepted; computed eagerly and compiled.
std::string message_of(const WrongGradientOp::GradientFunction& gradients) {
  const auto differentiate = [&](const Tensors& in) {
    GradientTape tape;
    for (const Tensor& x : in) tape.watch(x);
    const Tensor y = crescent::apply(std::make_shared<const WrongGradientOp>(gradients), in)[0];
    Tensors gradients_of_inputs = tape.gradient(y, in);
    for (Tensor& g : gradients_of_inputs) g = g ? g : Tensor(0.0);
    return gradients_of_inputs;
  };
  const Tensors inputs{Tensor::full({2, 3}, 1), Tensor::full({2, 3}, 2)};
  const auto message_from = [&](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string eager_message = message_from([&] { differentiate(inputs); });
  const Function compiled(differentiate);
  CHECK(message_from([&] { compiled(inputs); }) == eager_message);
  return eager_message;
}

}  // namespace

TEST_CASE("gradients that do not fit the inputs are refused, and right ones taken") {
  CHECK(message_of([](const Tensor& g) { return Tensors{g, g}; }) == "");
  CHECK(message_of([](const Tensor& g) { return Tensors{g, Tensor()}; }) == "");
  CHECK(message_of([](const Tensor& g) { return Tensors{g}; }) ==
        "careless: vjp() gave 1 gradients, expected one for each of 2 inputs (no tensor where "
        "there is none)");
  CHECK(message_of([](const Tensor& g) {
          return Tensors{g, g, g};
        }).find("gave 3 gradients") != std::string::npos);
  CHECK(message_of([](const Tensor& g) {
          return Tensors{g, ops::sum(g)};
        }) == "careless: vjp() gave a gradient float32() for input 2 of 2, which is float32(2, 3)");
  CHECK(message_of([](const Tensor& g) {
          return Tensors{ops::transpose(g), g};
        }) ==
        "careless: vjp() gave a gradient float32(3, 2) for input 1 of 2, which is float32(2, 3)");
  CHECK(message_of([](const Tensor& g) {
          return Tensors{g, ops::cast(g, DType::float64)};
        }) ==
        "careless: vjp() gave a gradient float64(2, 3) for input 2 of 2, which is float32(2, 3)");
}

TEST_CASE("gradients that nobody wants may be anything") {
  const Tensor a = Tensor::full({2}, 1), b = Tensor::full({2}, 1);
  GradientTape tape;
  tape.watch(a);
  const auto op = std::make_shared<const WrongGradientOp>([](const Tensor& g) {
    return Tensors{g, Tensor::full({7}, 1)};
  });
  const Tensor y = crescent::apply(op, Tensors{a, b})[0];
  CHECK(tape.gradient(y, Tensors{a})[0].to_vector() == std::vector<double>{1, 1});
}

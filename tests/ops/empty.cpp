// Arrays without elements. Every case runs with each dimension of each input set to 0 in turn. It
// must give an error that names the empty input or dimension, or the values of NumPy, independent
// of uninitialized memory, eagerly and compiled, with gradients.
#include <catch2/catch.hpp>

#include "crescent/program/gradient.h"
#include "ops/cases.h"
#include "poison.h"

namespace crescent::test {
namespace {

Tensor total(const Tensors& outputs) {
  Tensor sum = ops::zeros({}, DType::float64);
  for (const Tensor& y : outputs) {
    if (is_floating(y.dtype())) sum = sum + ops::sum(ops::cast(y, DType::float64));
  }
  return sum;
}

/// The results of the case, then the gradients of their sum.
Tensors results_of(const Case& c, const Tensors& inputs) {
  GradientTape tape;
  for (const Tensor& x : inputs) {
    if (is_floating(x.dtype())) tape.watch(x);
  }
  Tensors results = c.run(inputs);
  if (!c.has_gradient) return results;
  const Tensor sum = total(results);
  tape.stop();
  for (const Tensor& g : tape.gradient(sum, inputs)) {
    if (g) results.push_back(g);
  }
  return results;
}

void check(const Case& c) {
  const Tensors inputs = draw(c, DType::float32);
  auto run = [&](uint8_t fill_byte, bool is_compiled) {
    poison(fill_byte);
    auto f = [&](const Tensors& x) { return results_of(c, x); };
    return done([&] { return is_compiled ? Function(f)(inputs) : f(inputs); });
  };
  try {
    const Tensors results = run(0x55, false);
    TensorSpecs specs;
    for (const Tensor& x : inputs) specs.push_back(x.spec());
    Tensors abstract_inputs;
    for (const TensorSpec& spec : specs) abstract_inputs.push_back(Tensor::abstract(spec));
    const Tensors inferred = c.run(abstract_inputs);
    for (size_t i = 0; i < inferred.size(); ++i) CHECK(inferred[i].spec() == results[i].spec());
    CHECK(same_values(results, run(0xaa, false)));
    CHECK(same_values(results, run(0x55, true)));
    CHECK(same_values(results, run(0xaa, true)));
  } catch (const Error& error) {
    CHECK_FALSE(std::string(error.what()).empty());
    CHECK_THROWS_AS(run(0, true), Error);
  }
}

}  // namespace

TEST_CASE("every op takes arrays without elements or says what is missing") {
  for (const Case& c : all_cases()) {
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      for (int axis = 0; axis < c.inputs[i].shape.rank(); ++axis) {
        INFO(c.name << ", input " << i << ", axis " << axis);
        Case one_dim = c, all_like_it = c;
        one_dim.inputs[i].shape.set(axis, 0);
        for (In& in : all_like_it.inputs) {
          for (int a = 0; a < in.shape.rank(); ++a) {
            if (in.shape[a] == c.inputs[i].shape[axis]) in.shape.set(a, 0);
          }
        }
        check(one_dim);
        check(all_like_it);
      }
    }
  }
}

TEST_CASE("sums of nothing are zero, means of nothing are no number") {
  const Tensor empty({3, 0}, DType::float32), bias = Tensor::full({2}, 1.5);
  auto check_both = [](auto f, const Tensors& inputs, const std::vector<double>& expected) {
    for (const Tensor& y :
         {Function([&](const Tensors& x) { return Tensors{f(x)}; })(inputs)[0], f(inputs)}) {
      CHECK(same_values({ops::cast(ops::reshape(y, {1, y.size()}), DType::float64)},
                        {Tensor::from(expected, {1, int64_t(expected.size())})}));
    }
  };
  const double nan = std::nan("");
  check_both([](const Tensors& x) { return ops::sum(x[0], {1}); }, {empty}, {0, 0, 0});
  check_both([](const Tensors& x) { return ops::prod(x[0], {1}); }, {empty}, {1, 1, 1});
  check_both([](const Tensors& x) { return ops::mean(x[0], {1}); }, {empty}, {nan, nan, nan});
  check_both([](const Tensors& x) { return ops::all(x[0], {1}); }, {empty}, {1, 1, 1});
  check_both([](const Tensors& x) { return ops::any(x[0], {1}); }, {empty}, {0, 0, 0});
  check_both([](const Tensors& x) { return ops::relu(ops::matmul(x[0], x[1]) + x[2]); },
             {empty, Tensor({0, 2}, DType::float32), bias}, {1.5, 1.5, 1.5, 1.5, 1.5, 1.5});
  check_both([](const Tensors& x) { return ops::matmul(x[0], x[1]); },
             {Tensor({1, 0}, DType::int32), Tensor({0, 2}, DType::int32)}, {0, 0});
  check_both([](const Tensors& x) { return ops::conv(x[0], x[1], {1}, ops::Padding::same) + x[2]; },
             {Tensor({1, 2, 1, 0}, DType::float32), Tensor({3, 3, 0, 2}, DType::float32), bias},
             {1.5, 1.5, 1.5, 1.5});
  check_both(
      [](const Tensors& x) { return ops::conv_transpose(x[0], x[1], {2}, ops::Padding::same); },
      {Tensor({1, 1, 1, 0}, DType::float32), Tensor({1, 1, 1, 0}, DType::float32)}, {0, 0, 0, 0});
  check_both([](const Tensors& x) { return ops::layer_norm(x[0], x[1], x[1], 1e-3); },
             {empty, Tensor({0}, DType::float32)}, {});
  CHECK_THROWS_WITH(done([&] { return ops::gather(empty, Tensor({2}, DType::int32), 1); }),
                    Catch::Matchers::Contains("take: ") && Catch::Matchers::Contains("axis 1") &&
                        Catch::Matchers::Contains("(3, 0)"));
  CHECK(ops::gather(empty, Tensor({0}, DType::int32), 1).shape() == Shape{3, 0});
}

}  // namespace crescent::test

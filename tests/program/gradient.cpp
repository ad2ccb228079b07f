#include "crescent/program/gradient.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"
#include "crescent/program/op_types.h"
#include "crescent/program/program.h"

using namespace crescent;
using Catch::Matchers::Contains;

namespace {

Tensor scalar(double x) { return Tensor::scalar(x, DType::float64); }
Tensor gradient(GradientTape& tape, const Tensor& y, const Tensor& x) {
  return tape.gradient(y, std::span(&x, 1))[0];
}

}  // namespace

TEST_CASE("a tape gives the gradient of what it watches") {
  const Variable w(Tensor::full({3}, 2));
  GradientTape tape;
  const Tensor loss = ops::sum(ops::square(w));
  const Variables sources{w};
  CHECK(tape.gradient(loss, sources)[0].to_vector() == std::vector<double>{4, 4, 4});
  CHECK(tape.gradient(loss, sources)[0].to_vector() == std::vector<double>{4, 4, 4});
}

TEST_CASE("what is not connected has no gradient") {
  const Tensor x = scalar(2), other_x = scalar(3);
  GradientTape tape;
  tape.watch(x), tape.watch(other_x);
  const Tensor y = ops::multiply(x, x);
  CHECK_FALSE(gradient(tape, y, other_x));
  CHECK_FALSE(gradient(tape, ops::stop_gradient(y), x));
  Tensor unrecorded_square;
  {
    NoGradient no_gradient;
    unrecorded_square = ops::square(x);
  }
  CHECK_FALSE(gradient(tape, unrecorded_square, x));
  CHECK_THROWS_AS(tape.watch(Tensor(Shape{2}, DType::int32)), Error);
}

TEST_CASE("variables that do not train are watched only on request") {
  Variable::Options options;
  options.trainable = false;
  const Variable frozen_variable(Tensor(3.0), options);
  const Variables sources{frozen_variable};
  GradientTape tape;
  CHECK_FALSE(tape.gradient(ops::square(frozen_variable), sources)[0]);
  tape.watch(frozen_variable.value());
  CHECK(tape.gradient(ops::square(frozen_variable), sources)[0].item() == 6);
}

TEST_CASE("gradients of gradients") {
  const Tensor x = scalar(0.7);
  GradientTape outer_tape;
  outer_tape.watch(x);
  Tensor first_derivative;
  {
    GradientTape inner_tape;
    inner_tape.watch(x);
    first_derivative = gradient(inner_tape, ops::sin(ops::multiply(x, x)), x);
  }
  const double v = 0.7;
  CHECK(first_derivative.item() == Approx(2 * v * std::cos(v * v)));
  CHECK(gradient(outer_tape, first_derivative, x).item() ==
        Approx(2 * std::cos(v * v) - 4 * v * v * std::sin(v * v)));
}

TEST_CASE("second order through compound ops agrees with differences") {
  using F = std::function<Tensor(const Tensor&)>;
  const Tensor w = Tensor::from(std::vector<double>{0.3, -0.5, 0.8, 0.1, 0.9, -0.2}, {2, 3});
  const Tensor labels = Tensor::from(std::vector<int32_t>{2, 0}, {2});
  const Tensor ones = Tensor::full({3}, 1, DType::float64),
               kernel = Tensor::full({2, 1, 2}, 0.5, DType::float64);
  const std::pair<const char*, F> functions[] = {
      {"softmax", [&](const Tensor& x) { return ops::sum(ops::square(ops::softmax(x * w))); }},
      {"cross entropy",
       [&](const Tensor& x) { return ops::sum(ops::sparse_softmax_cross_entropy(x * w, labels)); }},
      {"batch norm",
       [&](const Tensor& x) {
         return ops::sum(ops::batch_norm_train(ops::exp(x * w), ones, ones, 1e-3).y * w);
       }},
      {"layer norm",
       [&](const Tensor& x) {
         return ops::sum(ops::layer_norm(ops::exp(x * w), ones, ones, 1e-3) * w);
       }},
      {"matmul",
       [&](const Tensor& x) { return ops::sum(ops::tanh(ops::matmul(x * w, ops::transpose(x)))); }},
      {"conv",
       [&](const Tensor& x) {
         return ops::sum(ops::square(
             ops::conv(ops::reshape(x * x, {2, 3, 1}), kernel, {1}, ops::Padding::valid)));
       }},
      {"max pool",
       [&](const Tensor& x) {
         return ops::sum(
             ops::max_pool(ops::reshape(x * x * w, {2, 3, 1}), {2}, {1}, ops::Padding::valid));
       }},
      {"average pool",
       [&](const Tensor& x) {
         const Tensor image = ops::reshape(x * x * w, {2, 3, 1});
         return ops::sum(ops::square(ops::average_pool(image, {2}, {1}, ops::Padding::same)));
       }},
      {"conv transpose",
       [&](const Tensor& x) {
         const Tensor weights = ops::reshape(ops::sum(x * w, {0}), {3, 1, 1});
         return ops::sum(ops::square(ops::conv_transpose(ops::reshape(x * x, {2, 3, 1}), weights,
                                                         {2}, ops::Padding::same)));
       }},
      {"cumsum and top_k",
       [&](const Tensor& x) {
         return ops::sum(ops::square(ops::top_k(ops::cumsum(x * x * w, 1), 2)[0]));
       }},
      {"lstm",
       [&](const Tensor& x) {
         const Tensor parts[] = {w, x, x * w, w}, gates = ops::concatenate(parts, -1),
                      sums = ops::sum(x, {1}, true);
         const Tensor h = ops::slice(sums, {0, 0}, {1, 1}), c = ops::slice(sums, {1, 0}, {1, 1});
         const Tensor kernel = ops::slice(gates, {0, 0}, {2, 4}),
                      recurrent = ops::slice(gates, {1, 3}, {1, 4});
         const auto r =
             ops::lstm(ops::reshape(x, {1, 3, 2}), h, c, kernel, recurrent, ops::sum(kernel, {0}));
         return ops::sum(ops::square(r.sequence)) + ops::sum(r.c);
       }},
      {"gru",
       [&](const Tensor& x) {
         const Tensor h = ops::slice(x, {0, 0}, {1, 1}),
                      recurrent = ops::slice(x * x, {1, 0}, {1, 3});
         const auto r = ops::gru(ops::reshape(x, {1, 3, 2}), h, x * w, recurrent, w * x);
         return ops::sum(ops::square(r.sequence)) + ops::sum(r.h);
       }},
      {"scan",
       [&](const Tensor& x) {
         return ops::sum(ops::scan(
                             [&](const Tensors& s, const Tensors& t) -> ops::ScanResult {
                               return {{ops::tanh(s[0] * t[0] + x)}, {}};
                             },
                             {x}, {x * w})
                             .states[0]);
       }},
  };
  for (const auto& [name, f] : functions) {
    INFO(name);
    auto first_gradient = [&, &f = f](const Tensor& x) {
      GradientTape tape;
      tape.watch(x);
      return gradient(tape, f(x), x);
    };
    const Tensor x = Tensor::from(std::vector<double>{1, 0.4, -0.6, 0.2, 1.1, 0.5}, {2, 3});
    GradientTape tape;
    tape.watch(x);
    const Tensor second_gradient = gradient(tape, ops::sum(first_gradient(x) * w), x);
    REQUIRE(second_gradient);
    for (int64_t i = 0; i < x.size(); ++i) {
      auto loss_at = [&](double shift) {
        Tensor shifted_x = x.clone();
        shifted_x.mutable_data<double>()[i] += shift;
        return ops::sum(first_gradient(shifted_x) * w).item();
      };
      CHECK(second_gradient.to_vector()[static_cast<size_t>(i)] ==
            Approx((loss_at(1e-5) - loss_at(-1e-5)) / 2e-5).epsilon(1e-4).margin(1e-6));
    }
  }
}

namespace {

/// The gradient of sum(f(x) * weights) by central differences.
std::vector<double> differences(const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
                                const Tensor& weights) {
  std::vector<double> slopes;
  for (int64_t i = 0; i < x.size(); ++i) {
    auto loss_at = [&](double shift) {
      Tensor moved = x.clone();
      moved.mutable_data<double>()[i] += shift;
      return ops::sum(f(moved) * weights).item();
    };
    slopes.push_back((loss_at(1e-5) - loss_at(-1e-5)) / 2e-5);
  }
  return slopes;
}

Tensor row(std::vector<double> values) {
  const auto count = static_cast<int64_t>(values.size());
  return Tensor::from(values, {count});
}

}  // namespace

TEST_CASE("gradients of products of matrices, transposed or not, square or not") {
  const SeedGenerator random(4);
  for (const int64_t rows : {3, 4})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        auto matrix = [&](bool transposed, int64_t m, int64_t n) {
          return ops::cast(random.normal(transposed ? Shape{n, m} : Shape{m, n}), DType::float64);
        };
        const Tensor a = matrix(transpose_a, rows, 3), b = matrix(transpose_b, 3, rows),
                     weights = matrix(false, rows, rows);
        for (const bool differentiates_a : {true, false}) {
          auto f = [&](const Tensor& x) {
            return ops::matmul(differentiates_a ? x : a, differentiates_a ? b : x, transpose_a,
                               transpose_b);
          };
          const Tensor x = differentiates_a ? a : b;
          GradientTape tape;
          tape.watch(x);
          const auto got = gradient(tape, ops::sum(f(x) * weights), x).to_vector(),
                     want = differences(f, x, weights);
          CAPTURE(rows, transpose_a, transpose_b, differentiates_a);
          for (size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).margin(1e-8));
        }
      }
}

TEST_CASE("gradients of what was broadcast, to two rows and to more") {
  const SeedGenerator random(6);
  for (const int64_t rows : {1, 2, 3}) {
    const Tensor random_matrices = ops::cast(random.normal({2, rows, 3}), DType::float64);
    for (const Shape& shape : {Shape{1, 3}, Shape{3}, Shape{2, 1, 1}, Shape{1, rows, 1}, Shape{}}) {
      const Tensor x = ops::cast(random.normal(shape), DType::float64);
      auto f = [&](const Tensor& t) { return t * random_matrices; };
      GradientTape tape;
      tape.watch(x);
      const auto got = gradient(tape, ops::sum(f(x) * random_matrices), x).to_vector(),
                 want = differences(f, x, random_matrices);
      CAPTURE(rows, to_text(shape));
      REQUIRE(got.size() == want.size());
      for (size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).margin(1e-8));
    }
  }
}

TEST_CASE("the gradient of a product of numbers, of which some are zero") {
  const Tensor weights = row({0.5, -2, 3});
  for (const auto& values : {std::vector<double>{2, 3, -4, 5},
                             {2, 0, -4, 5},
                             {0, 3, 0, 5},
                             {0, 0, 0, 7},
                             {0, 0, 0, 0}}) {
    auto f = [&](const Tensor& x) {
      return ops::stack(Tensors{ops::prod(x), ops::prod(x * x), ops::prod(x, {0}) * 2.0}, 0);
    };
    const Tensor x = row(values);
    GradientTape tape;
    tape.watch(x);
    const auto got = gradient(tape, ops::sum(f(x) * weights), x).to_vector(),
               want = differences(f, x, weights);
    for (size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).margin(1e-6));
  }
}

TEST_CASE("gradients of powers are numbers where the base or the exponent is zero or less") {
  const Tensor a = row({0, 0, 0, -2, -2, 0.5, 0.5}), b = row({0, 1, 2, 2, 0, 0, -1});
  GradientTape tape;
  tape.watch(a), tape.watch(b);
  const Tensor sources[] = {a, b};
  const Tensors gradients = tape.gradient(ops::sum(ops::power(a, b)), sources);
  CHECK(gradients[0].to_vector() == std::vector<double>{0, 1, 0, -4, 0, 0, -4});
  const auto exponent_gradient = gradients[1].to_vector();
  for (size_t i = 0; i < 5; ++i) CHECK(exponent_gradient[i] == 0);
  CHECK(exponent_gradient[5] == Approx(std::log(0.5)));
  CHECK(exponent_gradient[6] == Approx(2 * std::log(0.5)));
}

TEST_CASE("where numbers are equal, one gradient is shared and not given twice") {
  using F = Tensor (*)(const Tensor& a, const Tensor& b);
  const std::pair<const char*, F> rows[] = {
      {"maximum", [](const Tensor& a, const Tensor& b) { return ops::maximum(a, b); }},
      {"minimum", [](const Tensor& a, const Tensor& b) { return ops::minimum(a, b); }},
      {"max",
       [](const Tensor& a, const Tensor& b) {
         return ops::max(ops::stack(Tensors{a, b}, 0), {0});
       }},
      {"min", [](const Tensor& a, const Tensor& b) {
         return ops::min(ops::stack(Tensors{a, b}, 0), {0});
       }}};
  const Tensor a = row({1, 2, 3, 0}), b = row({2, 2, 1, 0}), weights = row({3, 5, 7, 11});
  for (const auto& [name, f] : rows) {
    GradientTape tape;
    tape.watch(a), tape.watch(b);
    const Tensor sources[] = {a, b};
    const Tensors gradients = tape.gradient(ops::sum(f(a, b) * weights), sources);
    const auto first = gradients[0].to_vector(), second = gradients[1].to_vector();
    for (size_t i = 0; i < first.size(); ++i) {
      INFO(name << " " << i);
      CHECK(first[i] + second[i] == weights.to_vector()[i]);
      CHECK((first[i] >= 0 && second[i] >= 0));
    }
  }
}

TEST_CASE("gradients of cross entropy for labels of any sum, by one op or by many") {
  const SeedGenerator random(5);
  const Tensor x = ops::cast(random.normal({3, 4}), DType::float64),
               labels = ops::cast(random.uniform({3, 4}), DType::float64) * 2.0,
               weights = row({1, -2, 0.5});
  using F = std::function<Tensor(const Tensor&)>;
  const F loss_of = [&](const Tensor& z) { return ops::softmax_cross_entropy(z, labels); };
  const auto want = differences(loss_of, x, weights);
  GradientTape tape;
  tape.watch(x);
  const auto got = gradient(tape, ops::sum(loss_of(x) * weights), x).to_vector();
  SoftmaxCrossEntropyBackward op;
  op.sparse = false;
  const Tensor inputs[] = {x, labels, weights};
  const auto decomposed_gradient = op.decompose(inputs)[0].to_vector();
  for (size_t i = 0; i < want.size(); ++i) {
    CHECK(got[i] == Approx(want[i]).margin(1e-8));
    CHECK(decomposed_gradient[i] == Approx(want[i]).margin(1e-8));
  }
}

TEST_CASE("a masked tensor is the same source") {
  const Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = ops::square(x.with_mask(Tensor::full({}, 1, DType::boolean)));
  CHECK(gradient(tape, y, x).item() == 6);
}

TEST_CASE("a variable read twice has one gradient") {
  const Variable w(scalar(2));
  const Variables sources{w};
  GradientTape tape;
  const Tensor y = ops::multiply(w, w) + ops::multiply(w, 3.0);
  CHECK(tape.gradient(y, sources)[0].item() == 7);
}

TEST_CASE("a variable read before and after an assignment has the sum of both gradients") {
  const Variable w(scalar(2));
  const Variables sources{w};
  const auto derivative = [&](const Tensor& x) {
    GradientTape tape;
    const Tensor product = w * x;
    w.assign(x * 2.0);
    const Tensor square = ops::square(w.value());
    w.assign(x * 3.0);
    return tape.gradient(product + square + w * 5.0, sources)[0];
  };
  CHECK(derivative(scalar(3)).item() == 3 + 2 * 6 + 5);
  const Function traced_derivative([&](const Tensors& in) { return Tensors{derivative(in[0])}; });
  CHECK(traced_derivative({scalar(3)})[0].item() == 3 + 2 * 6 + 5);
}

TEST_CASE("an upstream gradient weighs the target") {
  const Tensor x = Tensor::full({2}, 3);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = ops::square(x);
  const Tensor upstream = Tensor::from(std::vector<float>{1, 10}, {2});
  CHECK(tape.gradient(y, std::span(&x, 1), upstream)[0].to_vector() == std::vector<double>{6, 60});
  CHECK_THROWS_WITH(tape.gradient(y, std::span(&x, 1), Tensor::full({3}, 1)), Contains("upstream"));
}

TEST_CASE("gradients end at an assignment, eager and traced") {
  const Variable v(Tensor(0.0));
  auto derivative = [&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    v.assign(x * 2.0);
    return gradient(tape, v.value() * x, x);
  };
  CHECK(derivative(Tensor(3.0)).item() == 6);
  CHECK(Function([&](const Tensors& in) { return Tensors{derivative(in[0])}; })({Tensor(3.0)})[0]
            .item() == 6);
}

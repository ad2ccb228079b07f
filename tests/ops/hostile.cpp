// Invalid and extreme arguments must give an error that refers to the call, or values, but never a
// crash.
#include <catch2/catch.hpp>
#include <limits>

#include "crescent/ops/ops.h"
#include "crescent/program/gradient.h"
#include "crescent/program/program.h"
#include "ops/cases.h"

using namespace crescent;
using Catch::Matchers::Contains;
using test::done;

namespace {

Tensor zeros(const Shape& shape, DType dtype = DType::float32) { return Tensor(shape, dtype); }
constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 2;

}  // namespace

TEST_CASE("shapes that do not fit are named") {
  CHECK_THROWS_WITH(ops::matmul(zeros({2, 3}), zeros({2, 3})),
                    Contains("matmul: shapes (2, 3) and (2, 3) do not fit"));
  CHECK_THROWS_WITH(ops::add(zeros({2, 3}), zeros({4})), Contains("add: shapes (2, 3) and (4,)"));
  CHECK_THROWS_WITH(ops::reshape(zeros({2, 3}), {4, -1}),
                    Contains("reshape: shape (2, 3) has 6 elements and does not fit (4, None)"));
  CHECK_THROWS_WITH(ops::concatenate(Tensors{zeros({2, 3}), zeros({3, 3})}, 1),
                    Contains("(2, 3) and (3, 3)"));
  CHECK_THROWS_WITH(
      ops::conv(zeros({1, 5, 5, 3}), zeros({3, 3, 2, 4}), {1}, ops::Padding::same),
      Contains("conv: shapes (1, 5, 5, 3) and (3, 3, 2, 4)") && Contains("3 channels"));
  CHECK_THROWS_WITH(ops::conv(zeros({1, 2, 2, 3}), zeros({3, 3, 3, 4}), {1}, ops::Padding::valid),
                    Contains("larger than"));
  CHECK_THROWS_WITH(ops::max_pool(zeros({1, 2, 2, 3}), {3}, {3}, ops::Padding::valid),
                    Contains("max_pool"));
  CHECK_THROWS_WITH(ops::sum(zeros({2, 3}), {2}),
                    Contains("sum: axis 2 is out of range for shape (2, 3)"));
  CHECK_THROWS_WITH(ops::sum(zeros({2, 3}), {0, 0}), Contains("twice"));
  CHECK_THROWS_WITH(ops::max(zeros({0, 3}), {0}), Contains("max"));
  CHECK_THROWS_WITH(ops::argmax(zeros({0})), Contains("argmax"));
  const Tensor five = Tensor::from(std::vector<int32_t>{5}, {1});
  CHECK_THROWS_WITH(done([&] {
                      return ops::gather(zeros({2, 3}), five);
                    }),
                    Contains("take: index 5"));
  CHECK_THROWS_WITH(ops::top_k(zeros({2, 3}), 4), Contains("top_k"));
  CHECK_THROWS_WITH(ops::sparse_softmax_cross_entropy(zeros({2, 3}), zeros({3}, DType::int32)),
                    Contains("(2, 3)"));
  CHECK_THROWS_WITH(ops::einsum("ij,jk->ik", Tensors{zeros({2, 3}), zeros({4, 5})}),
                    Contains("'j'"));
  CHECK_THROWS_WITH(ops::einsum("i%", Tensors{zeros({2})}), Contains("einsum"));
  CHECK_THROWS_WITH(ops::transpose(zeros({2, 3}), {0, 0}), Contains("transpose"));
  CHECK_THROWS_WITH(ops::lstm(zeros({2, 3, 4}), zeros({2, 5}), zeros({2, 5}), zeros({4, 20}),
                              zeros({5, 20}), zeros({19})),
                    Contains("lstm"));
  const Tensor heads = zeros({2, 3, 4, 5});
  CHECK_THROWS_WITH(ops::dot_product_attention(heads, zeros({2, 3, 4, 6}), heads, {}, 1),
                    Contains("(2, 3, 4, 6)"));
  CHECK_THROWS_WITH(ops::dot_product_attention(heads, heads, zeros({2, 2, 4, 5}), {}, 1),
                    Contains("a value for each key"));
  CHECK_THROWS_WITH(
      ops::dot_product_attention(heads, heads, heads, zeros({2, 1, 3, 4}, DType::boolean), 1),
      Contains("attention"));
  CHECK_THROWS_WITH(ops::qr(zeros({2, 3, 4})), Contains("qr"));
}

TEST_CASE("extreme numbers end in an error") {
  const Tensor x = zeros({2, 3, 4}), image = zeros({1, 4, 4, 2}), kernel = zeros({2, 2, 2, 2});
  CHECK_THROWS_AS(ops::zeros({kHuge}), Error);
  CHECK_THROWS_AS(ops::zeros({1 << 20, 1 << 20, 1 << 10}), Error);
  CHECK_THROWS_AS(ops::broadcast_to(zeros({1}), {kHuge, 4}), Error);
  CHECK_THROWS_AS(ops::repeat(x, kHuge, 0), Error);
  CHECK_THROWS_AS(ops::tile(x, {kHuge, 1, 1}), Error);
  CHECK_THROWS_AS(ops::arange(kHuge), Error);
  CHECK_THROWS_AS(ops::eye(kHuge, 2), Error);
  CHECK_THROWS_AS(ops::one_hot(zeros({2}, DType::int32), kHuge), Error);
  CHECK_THROWS_AS(ops::pad(x, {kHuge, 0, 0}, {kHuge, 0, 0}), Error);
  CHECK_THROWS_AS(ops::slice(x, {kHuge, 0, 0}, {kHuge, 1, 1}), Error);
  CHECK_THROWS_AS(ops::split(x, {kHuge, kHuge}, 0), Error);
  CHECK_THROWS_AS(ops::split(x, {3, -1}, 0), Error);
  CHECK(ops::slice_axis(x, 0, 0, kHuge, kHuge).shape() == Shape{1, 3, 4});
  CHECK_THROWS_AS(ops::conv(image, kernel, {1}, ops::Padding::same, {kHuge}), Error);
  CHECK_THROWS_AS(ops::conv(image, kernel, {0}, ops::Padding::same), Error);
  CHECK_THROWS_AS(ops::conv(image, kernel, {1}, ops::Padding::same, {1}, 0), Error);
  CHECK_THROWS_AS(ops::conv(image, kernel, {1}, ops::Padding::same, {1}, kHuge), Error);
  CHECK_THROWS_AS(ops::conv_transpose(image, kernel, {kHuge}, ops::Padding::same), Error);
  CHECK_THROWS_AS(ops::max_pool(image, {kHuge}, {1}, ops::Padding::valid), Error);
  CHECK_THROWS_AS(ops::reshape(x, {kHuge, kHuge, -1}), Error);
  CHECK_THROWS_AS(ops::expand_dims(zeros({1, 1, 1, 1, 1, 1, 1, 1}), 0), Error);
}

TEST_CASE("integers divide by zero and overflow without a crash") {
  const Tensor a =
      Tensor::from(std::vector<int32_t>{7, -7, std::numeric_limits<int32_t>::min()}, {3});
  const Tensor zero = zeros({3}, DType::int32), minus_one = Tensor::full({3}, -1, DType::int32);
  for (const Tensor& b : {zero, minus_one}) {
    CHECK(ops::floor_divide(a, b).size() == 3);
    CHECK(ops::mod(a, b).size() == 3);
    CHECK(ops::power(a, b).size() == 3);
    CHECK(ops::divide(a, b).size() == 3);
  }
  const Tensor int64_tensor = ops::cast(a, DType::int64),
               uint8_tensor = ops::cast(zero, DType::uint8);
  CHECK(ops::floor_divide(int64_tensor, ops::cast(zero, DType::int64)).size() == 3);
  CHECK(ops::mod(uint8_tensor, uint8_tensor).size() == 3);
  CHECK(ops::cast(Tensor::full({3}, 1e300, DType::float64), DType::int32).size() == 3);
  CHECK(
      ops::cast(Tensor::full({3}, std::numeric_limits<double>::quiet_NaN()), DType::uint8).size() ==
      3);
}

TEST_CASE("indices and labels out of range fail by name, eagerly and compiled") {
  const Tensor x = zeros({3, 2}), logits = zeros({3, 3});
  auto fails = [](const Function::Body& f, const Tensors& inputs, const std::string& message) {
    INFO(message);
    CHECK_THROWS_WITH(done([&] { return f(inputs); }), Contains(message));
    CHECK_THROWS_WITH(done([&] { return Function(f)(inputs); }), Contains(message));
  };
  auto gradient_of = [](auto f) {
    return [f](const Tensors& in) {
      GradientTape tape;
      tape.watch(in[0]);
      return tape.gradient(f(in[0], in[1]), std::span(in.data(), 1));
    };
  };
  auto take = [](const Tensor& a, const Tensor& b) { return ops::gather(a, b); };
  auto loss = [](const Tensor& a, const Tensor& b) {
    return ops::sparse_softmax_cross_entropy(a, b);
  };
  auto indices = [](int64_t i) { return Tensor::from(std::vector<int64_t>{1, i, 2}, {3}); };
  for (int64_t i : {int64_t{3}, int64_t{-1}, kHuge, -kHuge}) {
    fails([&](const Tensors& in) { return Tensors{take(in[0], in[1])}; }, {x, indices(i)},
          concat("take: index ", i, " at [1] is out of range for axis 0 of shape (3, 2)"));
    fails(gradient_of(take), {x, indices(i)}, concat("index ", i, " at [1]"));
    fails([](const Tensors& in) { return Tensors{ops::gather_along_axis(in[0], in[1], 0)}; },
          {zeros({3}), indices(i)}, concat("take_along_axis: index ", i));
    fails([&](const Tensors& in) { return Tensors{loss(in[0], in[1])}; }, {logits, indices(i)},
          concat("label ", i, " at [1] is out of range for 3 classes"));
    fails(gradient_of(loss), {logits, indices(i)}, concat("label ", i, " at [1]"));
  }
  auto floats = [](float f) { return Tensor::from(std::vector<float>{1, f, 2.5}, {3}); };
  for (float f : {3.f, -1.f, NAN, -INFINITY, INFINITY, 1e30f}) {
    fails([&](const Tensors& in) { return Tensors{loss(in[0], in[1])}; }, {logits, floats(f)},
          "at [1] is out of range for 3 classes");
  }
  CHECK(loss(logits, floats(-0.5f)).to_vector()[1] == Approx(std::log(3.0)));
  const Tensor out_of_range = Tensor::from(std::vector<int32_t>{1, 3, -1}, {3});
  CHECK(ops::one_hot(out_of_range, 3).to_vector() ==
        std::vector<double>{0, 1, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("a run that fails for an index it was given has changed nothing") {
  const Variable table(Tensor::full({3, 2}, 1.0)), count(Tensor(0.0));
  const Function step([&](const Tensors& in) {
    count.assign_add(Tensor(1.0));
    table.assign(table.value() * 2.0);
    return Tensors{ops::gather(table.value() + count.value(), ops::reshape(in[0] * 2, {4}))};
  });
  const Tensor out_of_range = Tensor::from(std::vector<int32_t>{0, 1, 1, 2}, {2, 2});
  CHECK_THROWS_AS(done([&] { return step({out_of_range}); }), DataError);
  CHECK(count.value().item() == 0);
  CHECK(table.value().to_vector() == std::vector<double>(6, 1));
  step({zeros({2, 2}, DType::int32)});
  CHECK(count.value().item() == 1);
}

TEST_CASE("sequences without steps leave the state as it was") {
  const Tensor h = Tensor::full({2, 3}, 0.5);
  const auto scanned = ops::scan(
      [](const Tensors& s, const Tensors& x) -> ops::ScanResult {
        return {{s[0] + x[0]}, {x[0]}};
      },
      {h}, {zeros({0, 2, 3})});
  CHECK(scanned.states[0].to_vector() == h.to_vector());
  CHECK(scanned.outputs[0].shape() == Shape{0, 2, 3});
  CHECK(ops::lstm(zeros({2, 0, 4}), h, h, zeros({4, 12}), zeros({3, 12}), zeros({12}))
            .h.to_vector() == h.to_vector());
  CHECK(ops::gru(zeros({2, 0, 4}), h, zeros({4, 9}), zeros({3, 9}), zeros({2, 9})).h.to_vector() ==
        h.to_vector());
}

TEST_CASE("a scan says what its body did wrong") {
  using R = ops::ScanResult;
  const Tensor x = zeros({4, 2});
  CHECK_THROWS_WITH(ops::scan(
                        [](const Tensors&, const Tensors&) -> R {
                          return {{}, {}};
                        },
                        {x}, {x}),
                    Contains("0 states for 1"));
  CHECK_THROWS_WITH(ops::scan(
                        [](const Tensors& s, const Tensors&) -> R {
                          return {{ops::sum(s[0])}, {}};
                        },
                        {x}, {x}),
                    Contains("state 0 starts as float32(4, 2)"));
  CHECK_THROWS_WITH(ops::scan(
                        [](const Tensors& s, const Tensors&) -> R {
                          return {s, {}};
                        },
                        {x}, {}),
                    Contains("sequence"));
  const Variable v(Tensor(1.0));
  CHECK_THROWS_WITH(ops::scan(
                        [&](const Tensors& s, const Tensors&) -> R {
                          return v.assign(Tensor(2.0)), R{s, {}};
                        },
                        {x}, {x}),
                    Contains("inside the body of a scan"));
}

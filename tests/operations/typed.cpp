// A function of C++ gives what the row of its name gives.
#include <catch2/catch.hpp>
#include <limits>

#include "call.h"

using namespace crescent;
using namespace crescent::operations_test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor floats(std::vector<float> values, const Shape& shape) { return Tensor::from(values, shape); }
Tensor whole(std::vector<int32_t> values, const Shape& shape) {
  return Tensor::from(values, shape);
}
Tensor booleans() { return ops::greater(floats({1, -1, 1, -1}, {4}), 0); }
Tensor others() { return ops::greater(floats({1, 1, -1, -1}, {4}), 0); }
Tensor matrix() { return floats({3, -1, 2, 5, -4, 0.5f}, {2, 3}); }
Tensor images() { return ops::reshape(ops::arange(48, DType::float32), {1, 4, 4, 3}); }

/// The same values of the same specs, NaN where the other is.
void check_same(const Tensors& got, const Tensors& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i].spec() == wanted[i].spec());
    const auto a = got[i].to_vector(), b = wanted[i].to_vector();
    REQUIRE(a.size() == b.size());
    for (size_t j = 0; j < a.size(); ++j) CHECK((a[j] == b[j] || (a[j] != a[j] && b[j] != b[j])));
  }
}

struct Sample {
  const char* row;
  Tensors typed;
  Dict arguments;
};

void check(const std::vector<Sample>& samples) {
  for (const Sample& sample : samples) {
    INFO(sample.row);
    check_same(sample.typed, Codec<Tensors>::decode(call(sample.row, sample.arguments)));
  }
}

}  // namespace

TEST_CASE("functions of numbers give what their rows give") {
  const Tensor a = booleans(), b = others(), x = matrix(), n = whole({7, -7, 5}, {3});
  check({{"add", {ops::add(a, b)}, {{"x1", boxed(a)}, {"x2", boxed(b)}}},
         {"multiply", {ops::multiply(a, b)}, {{"x1", boxed(a)}, {"x2", boxed(b)}}},
         {"abs", {ops::abs(a)}, {{"x", boxed(a)}}},
         {"sign", {ops::sign(a)}, {{"x", boxed(a)}}},
         {"floor", {ops::floor(n)}, {{"x", boxed(n)}}},
         {"ceil", {ops::ceil(n)}, {{"x", boxed(n)}}},
         {"clip", {ops::clip(x, 3, 1)}, {{"x", boxed(x)}, {"x_min", 3}, {"x_max", 1}}},
         {"hard_tanh", {ops::hard_tanh(x)}, {{"x", boxed(x)}}},
         {"leaky_relu", {ops::leaky_relu(x)}, {{"x", boxed(x)}}},
         {"gelu", {ops::gelu(x)}, {{"x", boxed(x)}}},
         {"round", {ops::round(x, -1)}, {{"x", boxed(x)}, {"decimals", -1}}},
         {"gcd", {ops::gcd(n, 14)}, {{"x1", boxed(n)}, {"x2", 14}}},
         {"hypot", {ops::hypot(x, 4)}, {{"x1", boxed(x)}, {"x2", 4}}},
         {"softmax", {ops::softmax(x, ops::Axes{0, 1})}, {{"x", boxed(x)}, {"axis", List{0, 1}}}}});
  const Tensor beyond = floats({kInfinity, -kInfinity, 7}, {3});
  const Tensor quotient = ops::floor_divide(beyond, 2);
  CHECK(quotient.to_vector()[0] != quotient.to_vector()[0]);
  check({{"floor_divide", {quotient}, {{"x1", boxed(beyond)}, {"x2", 2}}}});
}

TEST_CASE("functions of positions give what their rows give") {
  const Tensor x = matrix(), at = whole({-1, 0}, {2});
  CHECK(ops::take(x, at, 1).to_vector() == std::vector<double>{2, 3, 0.5, 5});
  check({{"take", {ops::take(x, at, 1)}, {{"x", boxed(x)}, {"indices", boxed(at)}, {"axis", 1}}},
         {"take", {ops::take(x, at)}, {{"x", boxed(x)}, {"indices", boxed(at)}}},
         {"argmax", {ops::argmax(x)}, {{"x", boxed(x)}}},
         {"argmin", {ops::argmin(x, 1, true)}, {{"x", boxed(x)}, {"axis", 1}, {"keepdims", true}}},
         {"cumsum", {ops::cumsum(x)}, {{"x", boxed(x)}}},
         {"cumsum", {ops::cumsum(x, 1)}, {{"x", boxed(x)}, {"axis", 1}}},
         {"top_k", ops::top_k(x, 2), {{"x", boxed(x)}, {"k", 2}}},
         {"one_hot",
          {ops::one_hot(at + 1, 3, 0)},
          {{"x", boxed(at + 1)}, {"num_classes", 3}, {"axis", 0}}},
         {"scatter_update",
          {ops::scatter_update(x, whole({1, 2}, {1, 2}), floats({9}, {1}), "add")},
          {{"inputs", boxed(x)},
           {"indices", boxed(whole({1, 2}, {1, 2}))},
           {"updates", boxed(floats({9}, {1}))},
           {"reduction", "add"}}},
         {"unique", {ops::unique(at).values}, {{"x", boxed(at)}}},
         {"max", {ops::max(booleans())}, {{"x", boxed(booleans())}}},
         {"max", {ops::max(x, {}, false, 9)}, {{"x", boxed(x)}, {"initial", 9}}},
         {"quantile", {ops::quantile(x, 0.3)}, {{"x", boxed(x)}, {"q", 0.3}}}});
}

TEST_CASE("functions of shapes give what their rows give") {
  const Tensor x = matrix();
  const Value both = List{boxed(x), boxed(x)};
  check({{"concatenate", {ops::concatenate(Tensors{x, x})}, {{"xs", both}}},
         {"tile", {ops::tile(x, {2, 1, 2})}, {{"x", boxed(x)}, {"repeats", List{2, 1, 2}}}},
         {"squeeze",
          {ops::squeeze(ops::expand_dims(x, ops::Axes{0, 3}), ops::Axes{0, 3})},
          {{"x", boxed(ops::reshape(x, {1, 2, 3, 1}))}, {"axis", List{0, 3}}}},
         {"split", ops::split(x, 3, 1), {{"x", boxed(x)}, {"indices_or_sections", 3}, {"axis", 1}}},
         {"split",
          ops::split_at(x, {1}, 1),
          {{"x", boxed(x)}, {"indices_or_sections", List{1}}, {"axis", 1}}},
         {"repeat", {ops::repeat(x, 2)}, {{"x", boxed(x)}, {"repeats", 2}}},
         {"flip", {ops::flip(x)}, {{"x", boxed(x)}}},
         {"roll", {ops::roll(x, {1})}, {{"x", boxed(x)}, {"shift", 1}}},
         {"pad",
          {ops::pad(x, ops::PadWidths{{{1, 0}, {0, 2}}}, "edge")},
          {{"x", boxed(x)}, {"pad_width", List{List{1, 0}, List{0, 2}}}, {"mode", "edge"}}},
         {"eye", {ops::eye(3, 4, 1)}, {{"N", 3}, {"M", 4}, {"k", 1}}},
         {"arange", {ops::arange(1, 7, 2)}, {{"start", 1}, {"stop", 7}, {"step", 2}}},
         {"arange", {ops::arange(1, 2, 0.5)}, {{"start", 1}, {"stop", 2}, {"step", 0.5}}},
         {"full",
          {ops::full({2, 3}, floats({1, 2, 3}, {3}))},
          {{"shape", List{2, 3}}, {"fill_value", boxed(floats({1, 2, 3}, {3}))}}},
         {"linspace", {ops::linspace(0, 1, 5)}, {{"start", 0}, {"stop", 1}, {"num", 5}}}});
}

TEST_CASE("functions of products give what their rows give") {
  const Tensor a = booleans(), b = others(), x = matrix();
  const Tensor stack = ops::reshape(ops::arange(12, DType::float32), {2, 3, 2});
  const Tensor kernel = ops::reshape(ops::arange(9, DType::float32), {1, 3, 1, 3});
  const Tensor first = ops::transpose(images(), {0, 3, 1, 2});
  CHECK(ops::matmul(a, b).dtype() == DType::boolean);
  CHECK(ops::dot(x, stack).shape() == Shape{2, 2, 2});
  check({{"matmul", {ops::matmul(a, b)}, {{"x1", boxed(a)}, {"x2", boxed(b)}}},
         {"dot", {ops::dot(x, stack)}, {{"x1", boxed(x)}, {"x2", boxed(stack)}}},
         {"einsum",
          {ops::einsum("ij,ik,il->jkl", Tensors{x, x, x})},
          {{"subscripts", "ij,ik,il->jkl"}, {"operands", List{boxed(x), boxed(x), boxed(x)}}}},
         {"tensordot",
          {ops::tensordot(x, ops::reshape(stack, {3, 4}), 1)},
          {{"x1", boxed(x)}, {"x2", boxed(ops::reshape(stack, {3, 4}))}, {"axes", 1}}},
         {"conv",
          {ops::conv(first, kernel, {1}, ops::Padding::same, {1}, {},
                     ops::DataFormat::channels_first)},
          {{"inputs", boxed(first)},
           {"kernel", boxed(kernel)},
           {"padding", "same"},
           {"data_format", "channels_first"}}},
         {"max_pool",
          {ops::max_pool(images(), {2})},
          {{"inputs", boxed(images())}, {"pool_size", 2}}},
         {"dot_product_attention",
          {ops::dot_product_attention(images(), images(), images(), {}, {}, 0.5, true)},
          {{"query", boxed(images())},
           {"key", boxed(images())},
           {"value", boxed(images())},
           {"scale", 0.5},
           {"is_causal", true}}}});
}

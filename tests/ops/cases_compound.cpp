#include "crescent/ops/random.h"
#include "ops/cases.h"

namespace crescent::test {
namespace {

/// A scan with a captured matrix, a carried state and outputs of every step.
Tensors cumulative_mix(const Tensors& x, bool reverse) {
  auto r = ops::scan(
      [&](const Tensors& state, const Tensors& step) -> ops::ScanResult {
        const Tensor next = ops::tanh(ops::matmul(state[0], x[2]) + step[0]);
        return {{next}, {next * 2.0, ops::square(state[0])}};
      },
      {x[0]}, {x[1]}, reverse);
  return {r.states[0], r.outputs[0], r.outputs[1]};
}

Tensor probabilities(const Tensor& x) { return ops::softmax(x); }

}  // namespace

std::vector<Case> compound_cases() {
  std::vector<Case> cases;
  auto add = [&](std::string name, std::function<Tensors(const Tensors&)> f, std::vector<In> in,
                 Dtypes dtypes = Dtypes::floats, bool has_gradient = true) {
    cases.push_back({std::move(name), std::move(f), std::move(in), dtypes, has_gradient, 4});
  };
  using X = const Tensors&;
  add("softmax", with_one_result([](X x) { return ops::softmax(x[0]); }), {{{4, 6}}});
  add("softmax axis", with_one_result([](X x) { return ops::softmax(x[0], 1); }), {{{2, 5, 3}}});
  add("log_softmax", with_one_result([](X x) { return ops::log_softmax(x[0]); }), {{{4, 6}}});
  add("log_softmax axis", with_one_result([](X x) { return ops::log_softmax(x[0], 0); }),
      {{{4, 6}}});
  add("softmax log", with_one_result([](X x) { return ops::log(ops::softmax(x[0])); }), {{{4, 6}}});
  add("sparse_softmax_cross_entropy",
      with_one_result([](X x) { return ops::sparse_softmax_cross_entropy(x[0], x[1]); }),
      {{{5, 4}}, indices({5}, 4)});
  add("sparse_softmax_cross_entropy deep",
      with_one_result([](X x) { return ops::sparse_softmax_cross_entropy(x[0], x[1]); }),
      {{{2, 3, 4}}, indices({2, 3}, 4)});
  add("softmax_cross_entropy",
      with_one_result([](X x) { return ops::softmax_cross_entropy(x[0], probabilities(x[1])); }),
      {{{5, 4}}, {{5, 4}}});
  add("batch_norm_train",
      [](X x) {
        ops::BatchNormResult m = ops::batch_norm_train(x[0], x[1], x[2], 1e-3);
        return Tensors{m.y, m.mean, m.variance};
      },
      {{{6, 3, 4}}, {{4}}, {{4}}});
  add("batch_norm_train rows",
      [](X x) { return Tensors{ops::batch_norm_train(x[0], x[1], x[2], 1e-3).y}; },
      {{{9, 5}}, {{5}}, {{5}}});
  add("layer_norm", with_one_result([](X x) { return ops::layer_norm(x[0], x[1], x[2], 1e-3); }),
      {{{3, 4, 7}}, {{7}}, {{7}}});
  add("dot_product_attention",
      with_one_result([](X x) { return ops::dot_product_attention(x[0], x[1], x[2], {}, 0.4); }),
      {unit({2, 3, 2, 5}), unit({2, 4, 2, 5}), unit({2, 4, 2, 3})});
  add("dot_product_attention masked",
      with_one_result([](X x) { return ops::dot_product_attention(x[0], x[1], x[2], x[3], 0.4); }),
      {unit({2, 3, 2, 5}), unit({2, 4, 2, 5}), unit({2, 4, 2, 3}), booleans({2, 1, 3, 4})});
  add("dot_product_attention causal", with_one_result([](X x) {
        return ops::dot_product_attention(x[0], x[1], x[2], {}, 0.4, true);
      }),
      {unit({2, 5, 2, 5}), unit({2, 4, 2, 5}), unit({2, 4, 2, 3})});
  add("dot_product_attention masked and causal", with_one_result([](X x) {
        return ops::dot_product_attention(x[0], x[1], x[2], x[3], 0.4, true);
      }),
      {unit({2, 3, 2, 5}), unit({2, 4, 2, 5}), unit({2, 4, 2, 3}), booleans({2, 1, 3, 4})});
  add("attention_weights",
      with_one_result([](X x) { return ops::attention_weights(x[0], x[1], x[2], 0.4); }),
      {unit({2, 3, 2, 5}), unit({2, 4, 2, 5}), booleans({2, 1, 1, 4})});
  add("lstm",
      [](X x) {
        ops::LstmResult r = ops::lstm(x[0], x[1], x[2], x[3], x[4], x[5]);
        return Tensors{r.sequence, r.h, r.c};
      },
      {{{2, 4, 3}}, unit({2, 5}), unit({2, 5}), unit({3, 20}), unit({5, 20}), unit({20})});
  add("lstm one step", [](X x) { return Tensors{ops::lstm(x[0], x[1], x[2], x[3], x[4], x[5]).h}; },
      {{{3, 1, 2}}, unit({3, 4}), unit({3, 4}), unit({2, 16}), unit({4, 16}), unit({16})});
  add("gru",
      [](X x) {
        ops::GruResult r = ops::gru(x[0], x[1], x[2], x[3], x[4]);
        return Tensors{r.sequence, r.h};
      },
      {{{2, 4, 3}}, unit({2, 5}), unit({3, 15}), unit({5, 15}), unit({2, 15})});
  add("scan", [](X x) { return cumulative_mix(x, false); },
      {unit({2, 3}), unit({4, 2, 3}), unit({3, 3})});
  add("scan reverse", [](X x) { return cumulative_mix(x, true); },
      {unit({2, 3}), unit({4, 2, 3}), unit({3, 3})});
  add(
      "random",
      [](X x) {
        SeedGenerator generator(5);
        const Shape& shape = x[0].shape();
        return Tensors{x[0] * generator.uniform(shape, 0, 1, x[0].dtype()),
                       generator.normal(shape, 1, 2), generator.truncated_normal(shape)};
      },
      // This case runs in one dtype, because random values differ between dtypes.
      {{{4, 3}}}, Dtypes::one);
  add(
      "qr",
      [](X x) {
        ops::QrResult f = ops::qr(x[0]);
        return Tensors{f.q, f.r};
      },
      {{{5, 3}}}, Dtypes::wide, false);
  add(
      "svd",
      [](X x) {
        ops::SvdResult f = ops::svd(x[0]);
        return Tensors{f.s};
      },
      {{{5, 3}}}, Dtypes::wide, false);
  return cases;
}

}  // namespace crescent::test

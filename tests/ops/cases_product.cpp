#include "crescent/ops/products.h"
#include "ops/cases.h"

namespace crescent::test {

std::vector<Case> product_cases() {
  std::vector<Case> cases;
  auto add = [&](std::string name, auto f, std::vector<In> in, Dtypes dtypes = Dtypes::floats) {
    cases.push_back({std::move(name), with_one_result(f), std::move(in), dtypes, true, 4});
  };
  using X = const Tensors&;
  add(
      "matmul", [](X x) { return ops::matmul(x[0], x[1]); }, {{{3, 5}}, {{5, 4}}}, Dtypes::floats);
  add("matmul ta", [](X x) { return ops::matmul(x[0], x[1], true); }, {{{5, 3}}, {{5, 4}}});
  add("matmul tb", [](X x) { return ops::matmul(x[0], x[1], false, true); }, {{{3, 5}}, {{4, 5}}});
  add("matmul ta tb", [](X x) { return ops::matmul(x[0], x[1], true, true); },
      {{{5, 3}}, {{4, 5}}});
  add("matmul batch", [](X x) { return ops::matmul(x[0], x[1]); }, {{{2, 3, 5}}, {{2, 5, 4}}});
  add("matmul batch tb", [](X x) { return ops::matmul(x[0], x[1], false, true); },
      {{{2, 2, 3, 5}}, {{2, 2, 4, 5}}});
  add("matmul batch broadcast", [](X x) { return ops::matmul(x[0], x[1]); },
      {{{2, 1, 3, 5}}, {{3, 5, 4}}});
  add("matmul stack", [](X x) { return ops::matmul(x[0], x[1]); }, {{{2, 3, 5}}, {{5, 4}}});
  add("matmul vector", [](X x) { return ops::matmul(x[0], x[1]); }, {{{5}}, {{5, 4}}});
  add("matmul column", [](X x) { return ops::matmul(x[0], x[1]); }, {{{3, 5}}, {{5}}});
  add("matmul larger", [](X x) { return ops::matmul(x[0], x[1]); }, {{{33, 70}}, {{70, 41}}});
  add("matmul bias relu", [](X x) { return ops::relu(ops::matmul(x[0], x[1]) + x[2]); },
      {{{3, 5}}, {{5, 4}}, {{4}}});
  add("matmul bias tanh", [](X x) { return ops::tanh(ops::matmul(x[0], x[1]) + x[2]); },
      {unit({3, 5}), unit({5, 4}), {{4}}});
  add("dot", [](X x) { return ops::dot(x[0], x[1]); }, {{{2, 3, 5}}, {{2, 5, 2}}});
  add("dot matrix", [](X x) { return ops::dot(x[0], x[1]); }, {{{2, 3, 5}}, {{5, 4}}});
  add("tensordot", [](X x) { return ops::tensordot(x[0], x[1], 1); }, {{{2, 3, 5}}, {{5, 2, 2}}});
  add("einsum", [](X x) { return ops::einsum("bij,bjk->bik", x); }, {{{2, 3, 4}}, {{2, 4, 5}}});
  add("einsum attention", [](X x) { return ops::einsum("btnh,bsnh->bnts", x); },
      {{{2, 3, 2, 4}}, {{2, 5, 2, 4}}});
  add("einsum one", [](X x) { return ops::einsum("abc->ca", x); }, {{{2, 3, 4}}});
  add("einsum dots", [](X x) { return ops::einsum("...ij,...jk->...ik", x); },
      {{{5, 1, 2, 3}}, {{4, 3, 2}}});
  add("einsum dots inside", [](X x) { return ops::einsum("a...c,cd->a...d", x); },
      {{{2, 5, 3, 4}}, {{4, 6}}});
  add("einsum dots behind", [](X x) { return ops::einsum("ab...,bc->ac...", x); },
      {{{2, 4, 3, 5}}, {{4, 6}}});
  add("einsum dots implied", [](X x) { return ops::einsum("...b,ba", x); },
      {{{2, 3, 4}}, {{4, 5}}});
  add("einsum dots summed", [](X x) { return ops::einsum("i...->...", x); }, {{{2, 3, 4}}});
  add("einsum dots of nothing", [](X x) { return ops::einsum("...i,...i->...", x); },
      {{{4}}, {{4}}});
  add("einsum outer", [](X x) { return ops::einsum("i,j->ji", x); }, {{{3}}, {{4}}});

  using P = ops::Padding;
  add("conv 1d", [](X x) { return ops::conv(x[0], x[1], {1}, P::valid); },
      {{{2, 7, 3}}, {{3, 3, 4}}});
  add("conv 1d causal", [](X x) { return ops::conv(x[0], x[1], {1}, P::causal, {2}); },
      {{{2, 7, 3}}, {{3, 3, 4}}});
  add("conv 1d same stride", [](X x) { return ops::conv(x[0], x[1], {2}, P::same); },
      {{{2, 7, 1}}, {{4, 1, 5}}});
  add("conv 2d", [](X x) { return ops::conv(x[0], x[1], {1}, P::valid); },
      {{{2, 6, 5, 3}}, {{3, 2, 3, 4}}});
  add("conv 2d same",
      [](X x) {
        return ops::conv(x[0], x[1], {2, 1}, P::same);
      },
      {{{1, 6, 5, 2}}, {{3, 3, 2, 3}}});
  add("conv 2d dilated", [](X x) { return ops::conv(x[0], x[1], {1}, P::same, {2}); },
      {{{1, 6, 7, 2}}, {{3, 3, 2, 3}}});
  add("conv 2d groups", [](X x) { return ops::conv(x[0], x[1], {1}, P::same, {1}, 2); },
      {{{1, 5, 5, 4}}, {{3, 3, 2, 6}}});
  add("conv 2d depthwise", [](X x) { return ops::conv(x[0], x[1], {1}, P::same, {1}, 3); },
      {{{1, 5, 5, 3}}, {{3, 3, 1, 6}}});
  add("conv 2d bias relu",
      [](X x) { return ops::relu(ops::conv(x[0], x[1], {1}, P::same) + x[2]); },
      {{{2, 5, 5, 2}}, {{3, 3, 2, 4}}, {{4}}});
  add("conv 3d",
      [](X x) {
        return ops::conv(x[0], x[1], {1, 2, 1}, P::same);
      },
      {{{1, 3, 4, 4, 2}}, {{2, 3, 2, 2, 3}}});
  add("conv_transpose valid", [](X x) { return ops::conv_transpose(x[0], x[1], {2}, P::valid); },
      {{{1, 4, 3, 3}}, {{3, 3, 2, 3}}});
  add("conv_transpose same", [](X x) { return ops::conv_transpose(x[0], x[1], {2}, P::same); },
      {{{1, 4, 3, 3}}, {{3, 3, 2, 3}}});
  add("conv_transpose extra",
      [](X x) { return ops::conv_transpose(x[0], x[1], {2}, P::same, {1}, {1}); },
      {{{1, 4, 3, 3}}, {{3, 3, 2, 3}}});
  add("conv_transpose 1d", [](X x) { return ops::conv_transpose(x[0], x[1], {3}, P::valid); },
      {{{2, 4, 3}}, {{2, 2, 3}}});
  add("max_pool 1d", [](X x) { return ops::max_pool(x[0], {2}, {2}, P::valid); }, {{{2, 7, 3}}});
  add("max_pool 2d", [](X x) { return ops::max_pool(x[0], {2}, {2}, P::valid); }, {{{2, 6, 5, 3}}});
  add("max_pool 2d same",
      [](X x) {
        return ops::max_pool(x[0], {3, 2}, {2, 1}, P::same);
      },
      {{{2, 6, 5, 3}}});
  add("max_pool 3d", [](X x) { return ops::max_pool(x[0], {2}, {1}, P::valid); },
      {{{1, 3, 4, 3, 2}}});
  add("average_pool 1d", [](X x) { return ops::average_pool(x[0], {3}, {2}, P::same); },
      {{{2, 7, 3}}});
  add("average_pool 2d", [](X x) { return ops::average_pool(x[0], {2}, {2}, P::valid); },
      {{{2, 6, 5, 3}}});
  add("average_pool 2d same", [](X x) { return ops::average_pool(x[0], {3}, {2}, P::same); },
      {{{2, 6, 5, 3}}});
  return cases;
}

}  // namespace crescent::test

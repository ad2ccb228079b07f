#include "crescent/program/op_types.h"
#include "ops/cases.h"

namespace crescent::test {

std::vector<Case> shape_cases() {
  std::vector<Case> cases;
  auto add = [&](std::string name, auto f, std::vector<In> in, Dtypes dtypes = Dtypes::numbers,
                 bool has_gradient = true) {
    cases.push_back({std::move(name), with_one_result(f), std::move(in), dtypes, has_gradient});
  };
  using X = const Tensors&;
  add("reshape", [](X x) { return ops::reshape(x[0], {-1, 6}); }, {{{4, 3, 2}}});
  add("flatten", [](X x) { return ops::flatten(x[0]); }, {{{4, 3, 2}}});
  add("transpose", [](X x) { return ops::transpose(x[0]); }, {{{4, 3}}});
  add("transpose 3", [](X x) { return ops::transpose(x[0], {1, 2, 0}); }, {{{4, 3, 2}}});
  add("transpose 4", [](X x) { return ops::transpose(x[0], {0, 3, 1, 2}); }, {{{2, 3, 4, 5}}});
  add("swap_axes", [](X x) { return ops::swap_axes(x[0], 0, -1); }, {{{4, 3, 2}}});
  add("expand_dims", [](X x) { return ops::expand_dims(x[0], 1); }, {{{4, 3}}});
  add("squeeze", [](X x) { return ops::squeeze(x[0], 1); }, {{{4, 1, 3}}});
  add("broadcast_to", [](X x) { return ops::broadcast_to(x[0], {4, 2, 3}); }, {{{2, 1}}});
  add("repeat", [](X x) { return ops::repeat(x[0], 3, 1); }, {{{4, 2}}});
  add("tile", [](X x) { return ops::tile(x[0], {2, 3}); }, {{{3, 2}}});
  add("concatenate", [](X x) { return ops::concatenate(x, 1); },
      {{{2, 3, 2}}, {{2, 1, 2}}, {{2, 4, 2}}});
  add("stack", [](X x) { return ops::stack(x, 1); }, {{{2, 3}}, {{2, 3}}});
  cases.push_back({"split",
                   [](X x) {
                     return ops::split(x[0], {1, 3, 2}, -1);
                   },
                   {{{4, 6}}},
                   Dtypes::numbers});
  add("slice", [](X x) { return ops::slice(x[0], {1, 2}, {2, -1}); }, {{{4, 5}}});
  add("slice_axis", [](X x) { return ops::slice_axis(x[0], 1, 1, -1, 2); }, {{{4, 7}}});
  add(
      "view_as_complex", [](X x) { return ops::view_as_real(ops::view_as_complex(x[0]) * 2.0); },
      {{{3, 4, 2}, -2, 2, DType::float32}}, Dtypes::one, false);
  add(
      "view_as_real",
      [](X x) { return ops::view_as_real(ops::view_as_complex(ops::flip(x[0], {0}))); },
      {{{3, 2}, -2, 2, DType::float32}}, Dtypes::one, false);
  add("pad", [](X x) { return ops::pad(x[0], {1, 0}, {2, 3}, 1.0); }, {{{3, 2}}});
  add("flip", [](X x) { return ops::flip(x[0], {0, 2}); }, {{{3, 2, 4}}});
  add("gather", [](X x) { return ops::gather(x[0], x[1], 0); }, {{{5, 3}}, indices({4}, 5)});
  add("gather matrix", [](X x) { return ops::gather(x[0], x[1], 1); },
      {{{3, 5, 2}}, indices({2, 3}, 5)});
  add("gather_along_axis", [](X x) { return ops::gather_along_axis(x[0], x[1], 1); },
      {{{3, 5}}, indices({3, 2}, 5)});
  add("gather_along_axis first", [](X x) { return ops::gather_along_axis(x[0], x[1], 0); },
      {{{5, 3}}, indices({2, 3}, 5)});
  add("take", [](X x) { return ops::take(x[0], x[1] - 5, 0); }, {{{5, 3}}, indices({4}, 5)});
  add("take_along_axis", [](X x) { return ops::take_along_axis(x[0], x[1] - 3, 1); },
      {{{1, 3}}, indices({2, 4}, 3)});
  add("scatter_add",
      [](X x) {
        ScatterAdd op;
        op.size = 6;
        return apply1(op, {x[1], x[0]});
      },
      {{{4, 3}}, indices({4}, 6)});
  add(
      "check_indices", [](X x) { return ops::check_indices(x[0], 6, "index", "six"); },
      {indices({3, 2}, 6)}, Dtypes::wide, false);
  add(
      "one_hot", [](X x) { return ops::one_hot(x[0], 4); }, {indices({3, 2}, 6)}, Dtypes::wide,
      false);
  add(
      "zeros",
      [](X x) {
        return ops::zeros({2, 3}, x[0].dtype());
      },
      {{{1}}}, Dtypes::numbers, false);
  add(
      "ones",
      [](X x) {
        return ops::ones({2, 3}, x[0].dtype());
      },
      {{{1}}}, Dtypes::numbers, false);
  add(
      "full",
      [](X x) {
        return ops::full({2, 3}, 7, x[0].dtype());
      },
      {{{1}}}, Dtypes::numbers, false);
  add(
      "zeros_like", [](X x) { return ops::zeros_like(x[0]); }, {{{4, 2}}}, Dtypes::numbers, false);
  add(
      "ones_like", [](X x) { return ops::ones_like(x[0]); }, {{{4, 2}}}, Dtypes::numbers, false);
  add(
      "arange", [](X x) { return ops::arange(5, x[0].dtype()); }, {{{1}}}, Dtypes::numbers, false);
  add(
      "eye", [](X x) { return ops::eye(3, 4, x[0].dtype()); }, {{{1}}}, Dtypes::numbers, false);
  add("fill",
      [](X x) {
        Fill op;
        op.shape = {2, 3}, op.dtype = x[0].dtype(), op.value = 3;
        return ops::multiply(x[0], apply1(op, {}));
      },
      {{{3}}});
  return cases;
}

}  // namespace crescent::test

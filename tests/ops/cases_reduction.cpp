#include "ops/cases.h"

namespace crescent::test {
namespace {

using Reduction = Tensor (*)(const Tensor&, const ops::Axes&, bool);
struct ReductionCase {
  const char* name;
  Reduction f;
  Dtypes dtypes = Dtypes::floats;
  bool has_gradient = true;
};
const ReductionCase kReductions[] = {
    {"sum", ops::sum, Dtypes::numbers},
    {"mean", ops::mean},
    {"max", ops::max, Dtypes::numbers},
    {"min", ops::min, Dtypes::numbers},
    {"prod", ops::prod, Dtypes::wide},
    {"any", ops::any, Dtypes::numbers, false},
    {"all", ops::all, Dtypes::numbers, false},
    {"variance", ops::variance},
    {"std", ops::std},
    {"norm", ops::norm},
    {"logsumexp", ops::logsumexp},
};
struct Axis {
  const char* name;
  ops::Axes axes;
  bool keepdims;
};
const Axis kAxes[] = {{"all axes", {}, false},
                      {"first", {0}, false},
                      {"last", {-1}, true},
                      {"middle", {1}, false},
                      {"two", {0, 2}, true}};

}  // namespace

std::vector<Case> reduction_cases() {
  std::vector<Case> cases;
  for (const ReductionCase& reduction : kReductions) {
    for (const Axis& axis : kAxes) {
      Reduction f = reduction.f;
      ops::Axes axes = axis.axes;
      bool keepdims = axis.keepdims;
      cases.push_back({std::string(reduction.name) + " " + axis.name,
                       with_one_result([=](const Tensors& x) { return f(x[0], axes, keepdims); }),
                       {{{3, 4, 5}}},
                       reduction.dtypes,
                       reduction.has_gradient,
                       2});
    }
  }
  auto add = [&](std::string name, auto f, std::vector<In> in, Dtypes dtypes = Dtypes::floats,
                 bool has_gradient = true) {
    cases.push_back({std::move(name), with_one_result(f), std::move(in), dtypes, has_gradient});
  };
  using X = const Tensors&;
  add(
      "prod zeros", [](X x) { return ops::prod(ops::relu(x[0]), {1}); }, {positive({3, 4})},
      Dtypes::wide);
  add("max ties", [](X x) { return ops::max(ops::minimum(x[0], 10.0), {1}); }, {{{3, 4}}});
  add(
      "argmax", [](X x) { return ops::argmax(x[0], 1); }, {{{3, 4, 2}}}, Dtypes::numbers, false);
  add(
      "argmin", [](X x) { return ops::argmin(x[0]); }, {{{3, 4}}}, Dtypes::numbers, false);
  add(
      "cumsum", [](X x) { return ops::cumsum(x[0], 1); }, {{{3, 4, 2}}}, Dtypes::numbers);
  add("cumsum reverse", [](X x) { return ops::cumsum(x[0], -1, true); }, {{{3, 4}}});
  cases.push_back({"top_k", [](X x) { return ops::top_k(x[0], 2); }, {{{3, 5}}}, Dtypes::numbers});
  using Kind = ReduceKind;
  add(
      "all_reduce", [](X x) { return ops::all_reduce(x[0]); }, {{{3, 4}}}, Dtypes::numbers);
  add("all_reduce mean", [](X x) { return ops::all_reduce(x[0], Kind::mean); }, {{{3, 4}}});
  add("all_reduce max", [](X x) { return ops::all_reduce(x[0], Kind::max); }, {{{3, 4}}});
  add("all_reduce min", [](X x) { return ops::all_reduce(x[0], Kind::min); }, {{{3, 4}}});
  add(
      "in_top_k", [](X x) { return ops::in_top_k(x[0], x[1], 2); }, {indices({6}, 5), {{6, 4}}},
      Dtypes::wide, false);
  return cases;
}

}  // namespace crescent::test

// A run that fails must change no variable, wherever the failing op is, compiled or eager.
#include <catch2/catch.hpp>

#include "crescent/device/lowering.h"
#include "crescent/layer/optimizer.h"
#include "crescent/ops/ops.h"
#include "crescent/program/program.h"

using namespace crescent;
using Catch::Contains;

namespace {

/// An op that returns its input, and fails if an element is negative; the host computes it.
struct PositiveCheck final : OpOf<PositiveCheck> {
  static constexpr const char* kName = "positive";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    for (int64_t i = 0; i < in[0].size(); ++i) {
      if (in[0].data<float>()[i] < 0) fail("below zero");
      out[0].mutable_data<float>()[i] = in[0].data<float>()[i];
    }
    return true;
  }
};
Tensor positive_or_fail(const Tensor& x) { return apply1(PositiveCheck(), {x}); }

/// Returns x if the sum of x is an index from 0 to 7; otherwise fails with an error of an index out
/// of range.
Tensor checked_or_fail(const Tensor& x) {
  const Tensor index = ops::cast(ops::sum(x), DType::int32);
  return x + ops::gather(Tensor::full({8}, 0), index, 0);
}

/// Three variables, which must not change.
struct State {
  Variable a{Tensor::full({3}, 1)}, b{Tensor::full({3}, 2)}, c{Tensor::full({3}, 3)};
  std::vector<double> values() const {
    std::vector<double> numbers;
    for (const Variable& v : {a, b, c})
      for (double x : v.value().to_vector()) numbers.push_back(x);
    return numbers;
  }
};

using Step = std::function<Tensors(const State&, const Tensor&)>;

const std::pair<const char*, Step> kSteps[] = {
    {"a computed check after a write",
     [](const State& s, const Tensor& x) {
       s.a.assign_add(x);
       return Tensors{checked_or_fail(x * 2.0)};
     }},
    {"a host call after writes",
     [](const State& s, const Tensor& x) {
       s.a.assign_add(x);
       s.b.assign(s.a.value() * 2.0);
       return Tensors{positive_or_fail(x * 3.0)};
     }},
    {"a host call on what was written",
     [](const State& s, const Tensor& x) {
       s.a.assign_add(x * 10.0);
       s.b.assign(positive_or_fail(s.a.value()));
       s.c.assign_sub(s.b.value());
       return Tensors{};
     }},
    {"a host call that makes the value itself",
     [](const State& s, const Tensor& x) {
       s.b.assign_add(x);
       s.a.assign(positive_or_fail(s.a.value() + x * 10.0));
       return Tensors{};
     }},
    {"values that change places",
     [](const State& s, const Tensor& x) {
       const Tensor a = s.a.value();
       s.a.assign(s.b.value());
       s.b.assign(a);
       s.c.assign(positive_or_fail(s.c.value() + x * 10.0));
       return Tensors{};
     }},
    {"a scan whose steps check",
     [](const State& s, const Tensor& x) {
       s.a.assign_add(x);
       const auto scan = ops::scan(
           [](const Tensors& states, const Tensors& row) {
             return ops::ScanResult{{positive_or_fail(states[0] + row[0])}, {}};
           },
           {s.b.value()}, {ops::stack(Tensors{x, x, x}) * 4.0});
       s.b.assign(scan.states[0]);
       return Tensors{};
     }},
};

}  // namespace

TEST_CASE("a compiled run that fails changes no variable, and the next one all of them") {
  for (const auto& [name, step] : kSteps) {
    INFO(name);
    const State state, expected;
    const Function compiled([&, &step = step](const Tensors& in) { return step(state, in[0]); });
    const Tensor valid_step = Tensor::full({3}, 1), invalid_step = Tensor::full({3}, -4);
    for (int i = 0; i < 3; ++i) {
      const std::vector<double> old_values = state.values();
      CHECK_THROWS_AS(compiled({invalid_step}), Error);
      CHECK(state.values() == old_values);
      compiled({valid_step});
      step(expected, valid_step);
      CHECK(state.values() == expected.values());
    }
  }
}

TEST_CASE("an eager step in a transaction has no effect when it fails") {
  for (const auto& [name, step] : kSteps) {
    INFO(name);
    const State state;
    const std::vector<double> old_values = state.values();
    const auto run = [&, &step = step](double x) {
      Transaction transaction;
      step(state, Tensor::full({3}, x));
      transaction.commit();
    };
    CHECK_THROWS_AS(run(-4), Error);
    CHECK(state.values() == old_values);
    run(1);
    CHECK(state.values() != old_values);
  }
}

TEST_CASE("nested transactions: what the inner one commits, the outer one may roll back") {
  const Variable v(Tensor::full({2}, 1));
  const Function doubled_function([&](const Tensors&) {
    v.assign(v.value() * 2.0);
    return Tensors{};
  });
  try {
    Transaction outer_transaction;
    v.assign_add(Tensor::full({2}, 1));
    {
      Transaction inner_transaction;
      doubled_function({});
      CHECK(v.value().to_vector() == std::vector<double>{4, 4});
    }
    CHECK(v.value().to_vector() == std::vector<double>{2, 2});
    {
      Transaction inner_transaction;
      doubled_function({});
      inner_transaction.commit();
    }
    CHECK(v.value().to_vector() == std::vector<double>{4, 4});
    fail("stop");
  } catch (const Error&) {
  }
  CHECK(v.value().to_vector() == std::vector<double>{1, 1});
}

TEST_CASE("an optimizer that fails on its second variable has not changed the first") {
  const Variable a(Tensor::full({3}, 1));
  class FailingOptimizer final : public Optimizer {
   public:
    static void describe(Schema<FailingOptimizer>& s) { s.doc("For tests."); }

   protected:
    void update(const Variable& v, const Tensor& g, const Tensor&, const Tensor&, Slots) override {
      if (v.shape()[0] == 2) fail("not this one");
      v.assign_sub(g);
    }
  };
  static const bool is_registered = (registry().add<FailingOptimizer>("test.Refusing"), true);
  REQUIRE(is_registered);
  const auto optimizer = make<Optimizer>("test.Refusing");
  const Variable b(Tensor::full({2}, 1));
  const Tensors gradients{Tensor::full({3}, 1), Tensor::full({2}, 1)};
  CHECK_THROWS_WITH(optimizer->apply(gradients, {a, b}), Contains("not this one"));
  CHECK(a.value().to_vector() == std::vector<double>(3, 1));
  CHECK(optimizer->iterations().value().item() == 0);
  optimizer->apply(std::span(gradients).first(1), {a});
  CHECK(a.value().to_vector() == std::vector<double>(3, 0));
}

TEST_CASE("what may fail comes before new values that it does not follow from") {
  const State state;
  Program program = lower(trace(
                              [&](const Tensors& in) {
                                state.a.assign_add(in[0]);
                                state.b.assign(positive_or_fail(in[0] * 2.0));
                                return Tensors{};
                              },
                              TensorSpecs{{DType::float32, {3}}}),
                          host_device());
  size_t failing_index = program.code.size(), writing_index = 0;
  for (size_t i = 0; i < program.code.size(); ++i) {
    if (may_fail(*program.code[i].op)) failing_index = i;
    if (program.code[i].outputs[0] == program.variables[0].result) writing_index = i;
  }
  CHECK(failing_index < writing_index);
}

// Functions that consist of several ops are compiled for large tensors: one program for each
// function and its options.
#include <catch2/catch.hpp>
#include <limits>

#include "call.h"

using namespace crescent;
using namespace crescent::operations_test;

namespace {

int call_count = 0;  // number of calls of the functions below

Tensor scaled_and_moved(const Tensor& x, double scale, const Tensor& offset, const Tensor& factor) {
  ++call_count;
  Tensor result = x * scale;
  if (offset) result = result + offset;
  return factor ? result * factor : result;
}

Tensor doubled(const Tensor& x) {
  ++call_count;
  return x * 2;
}

Tensor branching_on_values(const Tensor& x) {
  ++call_count;
  return x.to_vector().front() > 0 ? ops::exp(x) + 1 : x - 1;
}

Tensor with_noise(const Tensor& x) { return x * 0.0 + global_random().uniform(x.shape()); }

Value parts(const Tensor& x, const Tensors& others) {
  ++call_count;
  return List{Codec<Tensor>::encode(ops::exp(x) - 1), "between",
              Codec<Tensors>::encode({others[0] * 2 + 1, others[1] - x})};
}

void register_operations() {
  static const bool is_registered = [] {
    Operations(registry(), "acme")
        .add("ScaledAndMoved", "scaled_and_moved(x, scale=2.0, offset=None, factor=None)",
             scaled_and_moved)
        .add("Doubled", "doubled(x)", doubled)
        .add("ByValues", "by_values(x)", branching_on_values)
        .add("WithNoise", "with_noise(x)", with_noise)
        .add("PartsOf", "parts_of(x, others)", parts);
    return true;
  }();
  static_cast<void>(is_registered);
  call_count = 0;
}

double first_number(const Value& result) {
  return Codec<Tensor>::decode(result).to_vector().front();
}

Tensor large_tensor(double value) { return ops::full({40000}, value); }

}  // namespace

TEST_CASE("a function on large tensors is recorded once for its specs and options") {
  register_operations();
  const auto f = [](const Tensor& x, Dict more_options) {
    more_options.set("x", boxed(x));
    return first_number(call("scaled_and_moved", more_options));
  };
  const Value one = boxed(Tensor(1.0f)), three = boxed(Tensor(3.0f));
  CHECK(f(large_tensor(5), {{"offset", one}}) == 11);
  CHECK(f(large_tensor(7), {{"offset", three}}) == 17);
  CHECK(call_count == 1);
  CHECK(f(large_tensor(7), {{"offset", three}, {"scale", 3.0}}) == 24);
  CHECK(f(large_tensor(7), {{"factor", three}}) == 42);
  CHECK(f(ops::full({200, 250}, 7), {{"factor", three}}) == 42);
  CHECK(call_count == 4);
  CHECK(f(large_tensor(7), {{"factor", three}, {"offset", one}}) == 45);
  CHECK(f(large_tensor(1), {{"offset", one}, {"factor", three}}) == 9);
  CHECK(call_count == 6);  // tensors in another order need another program
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < 2; ++i)
    CHECK(std::isnan(f(large_tensor(1), {{"offset", one}, {"scale", nan}})));
  CHECK(call_count == 8);
  for (int i = 0; i < 2; ++i) CHECK(f(Tensor::full({4}, 1), {{"offset", one}}) == 3);
  CHECK(call_count == 10);
}

TEST_CASE("results lie where the function puts them") {
  register_operations();
  for (double value : {1, 2}) {
    const Value result =
        call("parts_of", {{"x", boxed(large_tensor(0))},
                          {"others", List{boxed(large_tensor(value)), boxed(large_tensor(8))}}});
    const List& list = result.as_list();
    CHECK(first_number(list[0]) == 0);
    CHECK(list[1] == Value("between"));
    CHECK(first_number(list[2].as_list()[0]) == 2 * value + 1);
    CHECK(first_number(list[2].as_list()[1]) == 8);
  }
  CHECK(call_count == 1);
}

TEST_CASE("single ops, and what looks at values or draws numbers, run as they are") {
  register_operations();
  for (double value : {1, 2})
    CHECK(first_number(call("doubled", {{"x", boxed(large_tensor(value))}})) == 2 * value);
  CHECK(call_count == 3);
  CHECK(first_number(call("by_values", {{"x", boxed(large_tensor(0))}})) == -1);
  CHECK(first_number(call("by_values", {{"x", boxed(ops::zeros({40000}) + 1e-9)}})) == 2);
  const Value x = boxed(large_tensor(1));
  CHECK(first_number(call("with_noise", {{"x", x}})) !=
        first_number(call("with_noise", {{"x", x}})));
  const Variable variable(large_tensor(1));
  const Value of_variable = Codec<Variable>::encode(variable);
  CHECK(first_number(call("scaled_and_moved", {{"x", of_variable}, {"offset", Value(1)}})) == 3);
}

TEST_CASE("gradients and programs see the ops of a function") {
  register_operations();
  const Tensor x = large_tensor(3);
  const auto f = [](const Tensor& at) {
    return Codec<Tensor>::decode(
        call("scaled_and_moved", {{"x", boxed(at)}, {"factor", boxed(at)}}));
  };
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  tape.stop();
  CHECK(tape.gradient(y, Tensors{x})[0].to_vector().front() == 12);
  CHECK(trace([&](const Tensors& in) { return Tensors{f(in[0])}; }, TensorSpecs{x.spec()})
            .code.size() == 2);
}

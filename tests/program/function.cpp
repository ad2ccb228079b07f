// Compiled Functions: signatures, variables updated in place, and steps that allocate no memory.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"
#include "crescent/program/gradient.h"
#include "crescent/program/program.h"

namespace {
std::atomic<uint64_t> new_call_count{0};
}

// Counts every operator new of this program.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(size_t bytes) {
  new_call_count.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  new_call_count.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

using namespace crescent;
using Catch::Matchers::Contains;

namespace {

/// A training step of a small network, (x, labels) -> loss, which updates its variables.
struct Trainer {
  Variable w1{Tensor::full({8, 16}, 0.1)}, b1{Tensor::full({16}, 0)},
      w2{Tensor::full({16, 3}, 0.2)};
  Variable m{Tensor(Shape{8, 16}, DType::float32)};
  Function step{[this](const Tensors& in) {
    GradientTape tape;
    const Tensor hidden = ops::relu(ops::matmul(in[0], w1) + b1);
    const Tensor loss =
        ops::mean(ops::sparse_softmax_cross_entropy(ops::matmul(hidden, w2), in[1]));
    const Variables sources{w1, b1, w2};
    const Tensors g = tape.gradient(loss, sources);
    m.assign(m * 0.9 + g[0] * 0.1);
    w1.assign_sub(m * 0.1);
    b1.assign_sub(g[1] * 0.1);
    w2.assign_sub(g[2] * 0.1);
    return Tensors{loss};
  }};
  Tensors inputs(int64_t rows) const {
    SeedGenerator generator(4);
    std::vector<int32_t> labels;
    for (int64_t i = 0; i < rows; ++i) labels.push_back(static_cast<int32_t>(i % 3));
    return {generator.normal({rows, 8}), Tensor::from(labels, {rows})};
  }
};

}  // namespace

TEST_CASE("a running step allocates nothing") {
  Trainer trainer;
  const Tensors inputs = trainer.inputs(12);
  Tensors outputs;
  for (int i = 0; i < 5; ++i) trainer.step.call(inputs, outputs);
  const double loss = outputs[0].item();
  const uint64_t tensor_count = allocation_count(), object_count = new_call_count.load();
  for (int i = 0; i < 100; ++i) trainer.step.call(inputs, outputs);
  const uint64_t new_tensors = allocation_count() - tensor_count,
                 new_objects = new_call_count.load() - object_count;
  CHECK(new_tensors == 0);
  CHECK(new_objects == 0);
  CHECK(outputs[0].item() < loss);
}

TEST_CASE("eager steps and compiled steps agree") {
  Trainer compiled, eager;
  const Tensors inputs = compiled.inputs(6);
  auto eager_step = [&] {
    GradientTape tape;
    const Tensor hidden = ops::relu(ops::matmul(inputs[0], eager.w1) + eager.b1);
    const Tensor loss =
        ops::mean(ops::sparse_softmax_cross_entropy(ops::matmul(hidden, eager.w2), inputs[1]));
    const Variables sources{eager.w1, eager.b1, eager.w2};
    const Tensors g = tape.gradient(loss, sources);
    eager.m.assign(eager.m * 0.9 + g[0] * 0.1);
    eager.w1.assign_sub(eager.m * 0.1);
    eager.b1.assign_sub(g[1] * 0.1);
    eager.w2.assign_sub(g[2] * 0.1);
    return loss.item();
  };
  for (int i = 0; i < 10; ++i)
    CHECK(compiled.step(inputs)[0].item() == Approx(eager_step()).epsilon(1e-5));
  const auto a = compiled.w1.value().to_vector(), b = eager.w1.value().to_vector();
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-5).margin(1e-6));
}

TEST_CASE("a function is compiled once a signature") {
  int trace_count = 0;
  const Function f([&](const Tensors& in) {
    ++trace_count;
    return Tensors{in[0] * 2.0};
  });
  f({Tensor::full({2}, 1)}), f({Tensor::full({2}, 5)});
  CHECK(trace_count == 1);
  CHECK(f({Tensor::full({3}, 1)})[0].shape() == Shape{3});
  f({Tensor::full({2}, 1, DType::float64)}), f({Tensor::full({2}, 1)}, 7);
  CHECK(trace_count == 4);
  CHECK(f.signatures() == 4);
  f.clear();
  CHECK(f.signatures() == 0);
}

TEST_CASE("results that are kept stay as they are") {
  const Function f([](const Tensors& in) { return Tensors{in[0] + 1.0}; });
  Tensors results;
  for (int i = 0; i < 8; ++i) results.push_back(f({Tensor::full({2}, i)})[0]);
  for (int i = 0; i < 8; ++i)
    CHECK(results[static_cast<size_t>(i)].to_vector() == std::vector<double>(2, i + 1.0));
}

TEST_CASE("results may be the next inputs") {
  const Function f([](const Tensors& in) { return Tensors{in[0] * 2.0, in[0]}; });
  Tensors state{Tensor(1.0)};
  for (int i = 0; i < 10; ++i) {
    f.call(std::span(state.data(), 1), state);
    CHECK(state[1].item() * 2 == state[0].item());
  }
  CHECK(state[0].item() == 1024);
}

TEST_CASE("tensors taken from a variable keep their values when a step writes it") {
  const Variable w(Tensor::full({4}, 1));
  const Function step([&](const Tensors&) {
    w.assign(w * 2.0);
    return Tensors{};
  });
  const Tensor old_values = w.value();
  step({});
  CHECK(old_values.to_vector() == std::vector<double>(4, 1));
  CHECK(w.value().to_vector() == std::vector<double>(4, 2));
  const Tensor initial = Tensor::full({2}, 3);
  const Variable shared_variable(initial);
  const Function add_and_assign([&](const Tensors&) {
    shared_variable.assign_add(Tensor::full({2}, 1));
    return Tensors{shared_variable.value()};
  });
  const Tensor sum = add_and_assign({})[0];
  CHECK(initial.to_vector() == std::vector<double>(2, 3));
  CHECK(sum.to_vector() == std::vector<double>(2, 4));
  add_and_assign({});
  CHECK(sum.to_vector() == std::vector<double>(2, 4));
}

TEST_CASE("reading after assigning inside a program gives the assigned value") {
  const Variable w(Tensor(1.0));
  const Function f([&](const Tensors& in) {
    const Tensor old_value = w.value();
    w.assign(in[0]);
    const Tensor sum = old_value + w.value();
    w.assign_add(Tensor(1.0));
    return Tensors{sum, w.value()};
  });
  const Tensors y = f({Tensor(10.0)});
  CHECK(y[0].item() == 11);
  CHECK(y[1].item() == 11);
  CHECK(w.value().item() == 11);
}

TEST_CASE("two variables may swap") {
  const Variable a(Tensor::full({3}, 1)), b(Tensor::full({3}, 2));
  const Function swap_variables([&](const Tensors&) {
    const Tensor x = a.value(), y = b.value();
    a.assign(y), b.assign(x);
    return Tensors{};
  });
  for (int i = 0; i < 3; ++i) swap_variables({});
  CHECK(a.value().to_vector() == std::vector<double>(3, 2));
  CHECK(b.value().to_vector() == std::vector<double>(3, 1));
}

TEST_CASE("values cannot be read while a program is recorded") {
  const Function f([](const Tensors& in) { return Tensors{Tensor(in[0].item())}; });
  CHECK_THROWS_WITH(
      f({Tensor(1.0)}),
      Contains("has no values while a program is being recorded; use run_eagerly=true"));
}

TEST_CASE("what a trace may not do fails clearly") {
  Tensor leaked_tensor;
  trace([&](const Tensors& in) { return leaked_tensor = in[0] + 1.0, Tensors{leaked_tensor}; },
        TensorSpecs{{DType::float32, {2}}});
  CHECK_THROWS_WITH(trace([&](const Tensors&) { return Tensors{leaked_tensor}; }, {}),
                    Contains("not computed in it"));
  CHECK_THROWS_WITH(trace([&](const Tensors& in) { return Variable(in[0]), in; },
                          TensorSpecs{{DType::float32, {2}}}),
                    Contains("initial value"));
}

TEST_CASE("state made on first use is made eagerly") {
  Variable variable;
  const Function f([&](const Tensors& in) {
    if (!variable) {
      NoTrace no_trace;
      variable = Variable(SeedGenerator(1).normal({2}));
    }
    return Tensors{in[0] * variable};
  });
  f({Tensor(2.0)});
  CHECK(f({Tensor(2.0)})[0].to_vector()[0] == Approx(2 * variable.value().to_vector()[0]));
}

TEST_CASE("a function within a function, under a tape or on abstract tensors is its body") {
  const Function inner_function([](const Tensors& in) { return Tensors{ops::square(in[0])}; });
  const Function outer_function(
      [&](const Tensors& in) { return Tensors{inner_function(in)[0] + 1.0}; });
  CHECK(outer_function({Tensor(3.0)})[0].item() == 10);
  CHECK(inner_function.signatures() == 0);
  const Tensor x(3.0f);
  GradientTape tape;
  tape.watch(x);
  CHECK(tape.gradient(inner_function({x})[0], std::span(&x, 1))[0].item() == 6);
  CHECK(inner_function({Tensor::abstract({DType::float32, {-1, 2}})})[0].shape() == Shape{-1, 2});
}

TEST_CASE("draws are the same compiled and eager, and advance") {
  const SeedGenerator a(9), b(9);
  const Function f([&](const Tensors&) { return Tensors{a.uniform({5}), a.normal({5})}; });
  for (int i = 0; i < 3; ++i) {
    const Tensors y = f({});
    CHECK(y[0].to_vector() == b.uniform({5}).to_vector());
    CHECK(y[1].to_vector() == b.normal({5}).to_vector());
  }
  CHECK(a.state().value().to_vector() == std::vector<double>{9, 6});
}

TEST_CASE("instructions know the layer that asked for them") {
  const Program p = trace(
      [](const Tensors& in) {
        ProgramScope block_scope("block");
        const Tensor y = in[0] + 1.0;
        ProgramScope dense_scope("dense_2");
        return Tensors{y * 2.0};
      },
      TensorSpecs{{DType::float32, {2}}});
  REQUIRE(p.code.size() == 2);
  CHECK(p.scopes[static_cast<size_t>(p.code[0].scope)] == "block");
  CHECK(p.scopes[static_cast<size_t>(p.code[1].scope)] == "block/dense_2");
  CHECK_THAT(p.text(), Contains("block/dense_2"));
}

TEST_CASE("gradients belong to the layer of what they differentiate") {
  const Program p = trace(
      [](const Tensors& in) {
        GradientTape tape;
        tape.watch(in[0]);
        Tensor y;
        {
          ProgramScope dense_scope("dense_1");
          y = ops::tanh(in[0]);
        }
        {
          ProgramScope dense_scope("dense_2");
          y = ops::exp(y);
        }
        const Tensors gradients = tape.gradient(y, std::span(in.data(), 1));
        return Tensors{gradients[0], in[0] * 2.0};
      },
      TensorSpecs{{DType::float32, {2}}});
  std::vector<std::string> scopes;
  for (const Program::Instruction& i : p.code) {
    const std::string& scope = p.scopes[static_cast<size_t>(i.scope)];
    if (scopes.empty() || scopes.back() != scope) scopes.push_back(scope);
  }
  CHECK(scopes == std::vector<std::string>{"dense_1", "dense_2", "dense_1", ""});
}

TEST_CASE("states of a scan are kept only where somebody looks back") {
  auto has_kept_states = [](bool with_gradient) {
    const Program p = optimize(trace(
        [&](const Tensors& in) {
          GradientTape tape;
          tape.watch(in[0]);
          const Tensor last = ops::scan(
                                  [](const Tensors& s, const Tensors& x) -> ops::ScanResult {
                                    return {{ops::tanh(s[0] + x[0])}, {}};
                                  },
                                  {in[0]}, {in[1]})
                                  .states[0];
          return with_gradient ? tape.gradient(last, std::span(in.data(), 1)) : Tensors{last};
        },
        TensorSpecs{{DType::float32, {2}}, {DType::float32, {5, 2}}}));
    size_t count = 0;
    for (const Program::Instruction& i : p.code) {
      auto* scan = dynamic_cast<const Scan*>(i.op.get());
      count += scan && scan->keep_states;
    }
    return count;
  };
  CHECK(has_kept_states(true) == 1);
  CHECK(has_kept_states(false) == 0);
}

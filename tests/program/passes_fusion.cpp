// Fusion of elementwise regions, and all passes together.
#include <algorithm>
#include <chrono>

#include "crescent/program/gradient.h"
#include "passes.h"

namespace crescent::passes {

using namespace ops;

TEST_CASE("fusion: a chain is one op", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        const Tensor d = in[0] - in[1];
        return Tensors{exp(square(d) * 0.5) + in[2]};
      },
      {f32({4, 3}), f32({3}), f32({4, 1})});
  Program q = rewritten(p, fusion);
  REQUIRE(names(q) == "fused");
  CHECK(op<Fused>(q, 0).steps.size() == 5);
  CHECK(op<Fused>(q, 0).outputs.size() == 1);
  CHECK(op<Fused>(q, 0).shape == Shape{4, 3});
}

TEST_CASE("fusion: values needed elsewhere are results too", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        const Tensor a = exp(in[0]), b = a * in[1];
        return Tensors{b + 1.0, sum(a, {0}), b};
      },
      {f32({4, 3}), f32({4, 3})});
  Program q = rewritten(p, fusion);
  CHECK(names(q) == "fused, reduce");
  CHECK(op<Fused>(q, 0).outputs.size() == 3);
}

TEST_CASE("fusion: a path that leaves and comes back keeps regions apart", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        const Tensor a = exp(in[0]);
        const Tensor total = sum(a, {1}, true);  // the sum needs a, and the quotient needs the sum
        return Tensors{square(a / total)};
      },
      {f32({4, 3})});
  CHECK(names(rewritten(p, fusion)) == "exp, reduce, fused");

  Program program_through_region = traced(
      [](const Tensors& in) {
        // Two regions of different shapes that depend on each other's values: if both were fused,
        // each would wait for the other.
        const Tensor a = exp(in[0]), row = sum(a, {0}), b = tanh(row), c = a * b,
                     later_sum = sum(c, {0}), d = b + later_sum;
        return Tensors{d, square(c)};
      },
      {f32({4, 3})});
  CHECK(rewritten(program_through_region, fusion).code.size() <= 6);
}

TEST_CASE("fusion: what comes after one region comes after all that joined it", "[passes]") {
  const Program p = traced(
      [](const Tensors& in) {
        const Tensor exponential = exp(in[0]),
                     reversed_float64 = cast(flip(exponential, {0}), DType::float64);
        const Tensor base = exp(in[1]), doubled_base = base * 2.0,
                     joined_sum = base + reversed_float64;
        const Tensor reversed_float32 = cast(flip(doubled_base, {0}), DType::float32);
        return Tensors{exponential + reversed_float32, joined_sum};
      },
      {f32({4, 3}), {DType::float64, {4, 3}}});
  rewritten(p, fusion);
}

TEST_CASE("fusion: what is cut is small, and computed where it is needed", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        const Tensor y = relu(in[0] - in[1]), mask = greater(y, 0.0), later_sum = exp(square(y));
        const Tensor g = matmul(y, in[2]);
        return Tensors{where(mask, g, 0.0) * later_sum};
      },
      {f32({6, 6}), f32({6, 6}), f32({6, 6})});
  Program q = rewritten(p, fusion);
  REQUIRE(names(q) == "fused, matmul, fused");
  // The outputs are y, which the product reads, and the mask, which has one byte per element.
  REQUIRE(q.code[0].outputs.size() == 2);
  CHECK(q.values[size_t(q.code[0].outputs[1])].dtype == DType::boolean);
}

TEST_CASE("fusion: types change within a region, scalars are computed once", "[passes]") {
  Variable rate_variable(Tensor::full({}, 0.1));
  Program p = traced(
      [&](const Tensors& in) {
        const Tensor scale = sqrt(rate_variable.value() * 2.0) + 1.0;
        const Tensor mask = greater(in[0], in[1]);
        return Tensors{where(mask, in[0] * scale, cast(in[2], DType::float32)),
                       cast(mask, DType::int32)};
      },
      {f32({40, 3}), f32({40, 3}), {DType::int64, {40, 3}}});
  Program q = rewritten(p, fusion);
  REQUIRE(names(q) == "fused, fused");
  CHECK(op<Fused>(q, 0).shape == Shape{});
  CHECK(op<Fused>(q, 1).steps.size() == 5);
}

TEST_CASE("fusion broadcasts by itself", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        return Tensors{exp(broadcast_to(in[0], {4, 3})) * broadcast_to(in[1], {4, 3})};
      },
      {f32({3}), f32({4, 1})});
  CHECK(names(rewritten(p, fusion)) == "fused");
}

TEST_CASE("fusion: the update of a variable and its moments is one op", "[passes]") {
  Variable w(numbers(f32({20, 3}), 5)), m(numbers(f32({20, 3}), 6)),
      v(square(numbers(f32({20, 3}), 7)));
  Program p = traced(
      [&](const Tensors& in) {
        const Tensor g = in[0];
        m.assign(m.value() + (g - m.value()) * 0.1);
        v.assign(v.value() + (square(g) - v.value()) * 0.001);
        w.assign(w.value() - m.value() * 0.01 / (sqrt(v.value()) + 1e-7));
        return Tensors{};
      },
      {f32({20, 3})});
  Program q = rewritten(p, fusion);
  REQUIRE(names(q) == "fused");
  CHECK(op<Fused>(q, 0).outputs.size() == 3);
}

TEST_CASE("fusion: the gradient of a table joins those who read it", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        ScatterAdd op;
        op.size = 16;
        const Tensor g = apply1(op, {in[1], apply1(Gather(), {in[0], in[1]})});
        return Tensors{in[0] - g * 0.1, in[2] + square(g)};
      },
      {f32({16, 3}), {DType::int32, {2, 5}}, f32({16, 3})});
  const Program q = rewritten(p, fusion);
  CHECK(names(q).find("scatter_add") == std::string::npos);

  Program program_with_own_updates = traced(
      // The updates of ScatterAdd are computed from a value that the fused region itself computes.
      [](const Tensors& in) {
        const Tensor a = exp(in[0]);
        ScatterAdd op;
        op.size = 16;
        return Tensors{a + apply1(op, {in[1], a})};
      },
      {f32({16, 3}), {DType::int32, {16}}});
  CHECK(names(rewritten(program_with_own_updates, fusion)).find("exp") == 0);
}

TEST_CASE("fusion: regions have limits", "[passes]") {
  Program deep_program = traced(
      [](const Tensors& in) {
        Tensor x = in[0];
        for (int i = 0; i < 150; ++i) x = x * 0.9 + in[1];
        return Tensors{x};
      },
      {f32({5}), f32({5})});
  Program q = rewritten(deep_program, fusion);
  CHECK(q.code.size() < 20);
  for (const auto& i : q.code) {
    if (auto* fused = dynamic_cast<const Fused*>(i.op.get())) CHECK(fused->steps.size() <= 64);
  }
  TensorSpecs input_specs(60, f32({5}));
  Program wide_program = traced(
      [](const Tensors& in) {
        Tensor x = in[0];
        for (const Tensor& t : in) x = x + t;
        return Tensors{x};
      },
      input_specs);
  for (const auto& i : rewritten(wide_program, fusion).code) CHECK(i.inputs.size() <= 24);
}

TEST_CASE("recomputation: the backward pass reads the input again instead of kept arithmetic",
          "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        GradientTape tape;
        tape.watch(in[0]);
        const Tensor x = matmul(in[0], in[1]), y = gelu(x, false), z = matmul(y, in[1]);
        const Tensor loss = sum(z * z);
        return Tensors{loss, tape.gradient(loss, Tensors{in[0]})[0]};
      },
      {f32({6, 6}), f32({6, 6})});
  while (common_subexpressions(p) || algebra(p) || constants(p)) dead_code(p);
  const auto output_count = [](const Program& q) {
    size_t count = 0;
    for (const auto& i : q.code) count += i.op->name() == "fused" ? i.outputs.size() : 0;
    return count;
  };
  Program fused = rewritten(p, fusion);
  Program recomputed_program = p;
  REQUIRE(recomputation(recomputed_program));
  dead_code(recomputed_program);
  validate(recomputed_program);
  check_same(run(p), run(recomputed_program), 0);
  recomputed_program = rewritten(recomputed_program, fusion);
  CHECK(recomputed_program.code.size() <= fused.code.size());
  CHECK(output_count(recomputed_program) < output_count(fused));
  CHECK(output_count(recomputed_program) == 3);  // stored values: y, 1 + erf, and the gradient
}

TEST_CASE("recomputation: not of what is in memory, expensive or far away", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        const Tensor product = in[0] * in[1], square_root = sqrt(in[0]), doubled_x = in[0] * 2.0,
                     shifted_x = in[0] + 1.0;
        return Tensors{product + exp(product), square_root + exp(square_root), doubled_x,
                       doubled_x + exp(doubled_x), sum(shifted_x) + shifted_x + exp(shifted_x)};
      },
      {f32({6}), f32({6})});
  CHECK_FALSE(recomputation(p));
}

TEST_CASE("fusion keeps the scope of the last instruction", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        Tensor x;
        {
          ProgramScope scope("first");
          x = exp(in[0]);
        }
        ProgramScope scope("second");
        return Tensors{x * 2.0};
      },
      {f32({4})});
  Program q = rewritten(p, fusion);
  REQUIRE(q.code.size() == 1);
  CHECK(q.scopes[size_t(q.code[0].scope)] == "second");
}

namespace {

/// Two dense layers and a convolution, softmax, Keras' cross entropy, Adam: a training step as fit
/// records it.
struct TrainingStep {
  TrainingStep() {
    for (const Shape& shape :
         {Shape{3, 3, 1, 8}, Shape{8}, Shape{6 * 6 * 8, 16}, Shape{16}, Shape{16, 10}, Shape{10}}) {
      weights.emplace_back(numbers(f32(shape), static_cast<uint32_t>(weights.size()) + 50) *
                           Tensor(0.3f));
      m.emplace_back(Tensor(shape, DType::float32));
      v.emplace_back(Tensor(shape, DType::float32));
    }
  }
  Tensor predict(const Tensor& x) const {
    Tensor y = relu(conv(x, weights[0], {1, 1}, Padding::valid) + weights[1].value());
    y = max_pool(y, {2, 2}, {2, 2}, Padding::valid);
    y = relu(matmul(reshape(y, {x.dim(0), -1}), weights[2]) + weights[3].value());
    return ops::softmax(matmul(y, weights[4]) + weights[5].value());
  }
  Tensors operator()(const Tensors& in) const {
    GradientTape tape;
    const Tensor p = predict(in[0]), truth = one_hot(in[1], 10);
    const Tensor loss = mean(-sum(truth * log(clip(p / sum(p, {-1}, true), 1e-7, 1 - 1e-7)), {-1}));
    tape.stop();
    const Tensors gradients = tape.gradient(loss, weights);
    step.assign_add(Tensor(1.0f));
    const Tensor t = step,
                 rate_variable = 0.001 * sqrt(1.0 - power(0.999, t)) / (1.0 - power(0.9, t));
    for (size_t i = 0; i < weights.size(); ++i) {
      m[i].assign(m[i] + (gradients[i] - m[i].value()) * 0.1);
      v[i].assign(v[i] + (square(gradients[i]) - v[i].value()) * 0.001);
      weights[i].assign(weights[i] - m[i].value() * rate_variable / (sqrt(v[i].value()) + 1e-7));
    }
    const Tensor is_correct = cast(equal(argmax(p), cast(in[1], DType::int64)), DType::float32);
    return {loss, mean(is_correct)};
  }
  Variables weights, m, v;
  Variable step{Tensor(0.0f)};
};

const TensorSpecs kBatch{f32({16, 14, 14, 1}), {DType::int32, {16}}};

}  // namespace

TEST_CASE("optimize: a training step", "[passes]") {
  TrainingStep step;
  const Program original_program = traced(step, kBatch);
  const Program optimized_program = optimize(original_program);
  INFO(original_program.text() << "\n" << optimized_program.text());
  validate(optimized_program);
  check_same(run(original_program), run(optimized_program), 1e-5);
  CHECK(optimized_program.code.size() * 3 < original_program.code.size());
  int update_count = 0;
  auto is_new_value = [&](int v) {
    return std::any_of(optimized_program.variables.begin(), optimized_program.variables.end(),
                       [&](const auto& b) { return b.result == v; });
  };
  for (const auto& i : optimized_program.code) {
    CHECK(i.op->name() != "transpose");
    CHECK(i.op->name() != "stop_gradient");
    update_count += i.op->name() == "fused" && i.outputs.size() == 3 &&
                    std::all_of(i.outputs.begin(), i.outputs.end(), is_new_value);
  }
  CHECK(update_count == 6);
}

TEST_CASE("optimize: inference keeps outputs and follows variables assigned later", "[passes]") {
  TrainingStep step;
  const Program original_program =
      traced([&](const Tensors& in) { return Tensors{step.predict(in[0])}; }, {kBatch[0]});
  const Program optimized_program = optimize(original_program, {.inference = true});
  validate(optimized_program);
  check_same(run(original_program), run(optimized_program), 1e-5);
  step.weights[0].assign(step.weights[0] * 2.0);
  check_same(run(original_program), run(optimized_program), 1e-5);
}

TEST_CASE("optimize: outputs that are inputs, constants, variables or the same value", "[passes]") {
  Variable v(Tensor::full({2}, 3));
  const Program original_program = traced(
      [&](const Tensors& in) {
        const Tensor x = in[0] * 1.0, y = exp(in[0]);
        return Tensors{x, Tensor::full({2}, 1) + 1.0, v.value() + 0.0, y, y, y * 1.0};
      },
      {f32({2})});
  const Program optimized_program = optimize(original_program);
  validate(optimized_program);
  CHECK(names(optimized_program) == "exp");
  check_same(run(original_program), run(optimized_program), 0);
}

TEST_CASE("optimize: twice is once", "[passes]") {
  TrainingStep step;
  const Program optimized_once = optimize(traced(step, kBatch)),
                optimized_twice = optimize(optimized_once);
  validate(optimized_twice);
  check_same(run(optimized_once), run(optimized_twice), 0);
  CHECK(optimized_twice.code.size() <= optimized_once.code.size());
}

TEST_CASE("optimize: dims that are not known", "[passes]") {
  const Program original_program = traced(
      [](const Tensors& in) {
        GradientTape tape;
        tape.watch(in[0]);
        const Tensor h = relu(matmul(in[0] * 1.0, in[1]) + in[2]),
                     p = ops::softmax(h + ops::zeros_like(h));
        const Tensor loss = mean(-sum(in[3] * log(clip(p / sum(p, {-1}, true), 1e-7, 1)), {-1}));
        return Tensors{loss, tape.gradient(loss, Tensors{in[0]})[0],
                       reshape(reshape(h, {-1, 2, 2}), {-1, 4}), transpose(h),
                       broadcast_to(mean(h, {0}), h.shape())};
      },
      {f32({-1, 3}), f32({3, 4}), f32({4}), f32({-1, 4})});
  const Program optimized_program = optimize(original_program);
  CHECK_NOTHROW(validate(optimized_program));
  CHECK(optimized_program.code.size() < original_program.code.size());
  for (size_t i = 0; i < original_program.outputs.size(); ++i) {
    CHECK(optimized_program.values[size_t(optimized_program.outputs[i])] ==
          original_program.values[size_t(original_program.outputs[i])]);
  }
}

TEST_CASE("optimize: empty tensors", "[passes]") {
  const Program original_program = traced(
      [](const Tensors& in) {
        const Tensor h = relu(matmul(in[0], in[1]) + in[2]);
        return Tensors{h, sum(h, {0}), max(in[1] * 1.0, {1}), h + ops::zeros_like(h),
                       reshape(h, {4, 0})};
      },
      {f32({0, 3}), f32({3, 4}), f32({4})});
  const Program optimized_program = optimize(original_program);
  validate(optimized_program);
  check_same(run(original_program), run(optimized_program), 0);
}

TEST_CASE("optimize takes little time", "[passes]") {
  TrainingStep step;
  const Program program = traced(step, kBatch);
  optimize(program);  // the first call compiles kernels for constants
  using Clock = std::chrono::steady_clock;
  double least_seconds = 1;
  for (int i = 0; i < 5; ++i) {
    const auto begin = Clock::now();
    optimize(program);
    least_seconds =
        std::min(least_seconds, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  INFO(program.code.size() << " instructions took " << least_seconds * 1e3 << " ms");
  CHECK(least_seconds < 0.05);  // takes a tenth of this on a quiet machine
}

TEST_CASE("optimize: long programs", "[passes]") {
  const Program original_program = traced(
      [](const Tensors& in) {
        Tensor x = in[0];
        for (int i = 0; i < 1500; ++i)
          x = i % 7 == 0 ? matmul(x, in[1]) * 0.5 : tanh(x) + in[0] * (0.1 + i % 3);
        return Tensors{x};
      },
      {f32({3, 3}), f32({3, 3})});
  const Program optimized_program = optimize(original_program);
  validate(optimized_program);
  check_same(run(original_program), run(optimized_program), 1e-4);
}

}  // namespace crescent::passes

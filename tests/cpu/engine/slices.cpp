// Programs that are computed slice by slice must give the same results as their instructions one by
// one.
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <map>

#include "../kernels/support.h"
#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "crescent/program/gradient.h"
#include "support.h"
#include "tiling/sliced.h"

using namespace crescent;
using namespace crescent::cpu::test;

namespace {

/// A network of depthwise and pointwise convolutions with batch normalization, relus and optionally
/// a residual: returns the loss, the result, and all gradients.
Tensors network(const Tensors& in, int64_t stride, bool has_residual) {
  GradientTape tape;
  for (const Tensor& x : in) tape.watch(x);
  const int64_t channels = in[0].shape()[-1];
  auto normalized = [&](const Tensor& x, size_t i) {
    return ops::relu(ops::batch_norm_train(x, in[i], in[i + 1], 1e-3).y);
  };
  const Tensor x = normalized(in[0], 1);
  const Tensor depthwise =
      normalized(ops::conv(x, in[3], {stride, stride}, ops::Padding::same, {1, 1}, channels), 4);
  Tensor pointwise =
      normalized(ops::conv(depthwise, in[6], {1, 1}, ops::Padding::same, {1, 1}, 1), 7);
  if (has_residual) pointwise = pointwise + x;
  const Tensor loss = ops::sum(pointwise * pointwise);
  tape.stop();
  Tensors outputs = tape.gradient(loss, std::span<const Tensor>(in));
  outputs.push_back(loss), outputs.push_back(pointwise);
  return outputs;
}

Tensors operands(const Shape& x) {
  const int64_t c = x[-1];
  Tensors in{sines(x, 1)};
  auto add_normalization = [&](double first) {
    in.push_back(sines({c}, first)), in.push_back(sines({c}, first + 0.5));
  };
  add_normalization(2);
  in.push_back(sines({3, 3, 1, c}, 3));
  add_normalization(4);
  in.push_back(sines({1, 1, c, c}, 5));
  add_normalization(6);
  return in;
}

Program lowered_network(const Tensors& in, int64_t stride, bool has_residual) {
  return lowered([&](const Tensors& x) { return network(x, stride, has_residual); }, in);
}

Tensors run(const Program& program, const Tensors& inputs) {
  auto executable = test_device().compile(program);
  Tensors outputs = outputs_of(program);
  for (int i = 0; i < 2; ++i) executable->run(inputs, {}, outputs);
  return outputs;
}

/// Runs each instruction as a separate program.
Tensors run_one_by_one(const Program& program, const Tensors& inputs) {
  std::map<int, Tensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) values[program.inputs[i]] = inputs[i];
  for (const Program::Constant& c : program.constants) values[c.value] = c.tensor;
  for (const Program::Instruction& i : program.code) {
    Program one_instruction;
    one_instruction.values = program.values;
    one_instruction.inputs = i.inputs, one_instruction.outputs = i.outputs,
    one_instruction.code = {i};
    Tensors in;
    for (int value : i.inputs) in.push_back(values.at(value));
    const Tensors out = run(one_instruction, in);
    for (size_t k = 0; k < out.size(); ++k) values[i.outputs[k]] = out[k];
  }
  Tensors outputs;
  for (int value : program.outputs) outputs.push_back(values.at(value));
  return outputs;
}

std::vector<double> numbers(const Tensor& t) {
  const auto* values = static_cast<const float*>(t.raw());
  return {values, values + t.shape().size()};
}

/// The Euclidean distance of two arrays relative to their norm. Single elements may differ, where
/// the input of a relu is near 0 and only one of the two is positive.
double relative_distance(const Tensor& got, const Tensor& want) {
  const std::vector<double> a = numbers(got), b = numbers(want);
  double squared_distance = 0, squared_norm = 0;
  for (size_t i = 0; i < a.size(); ++i)
    squared_distance += std::pow(a[i] - b[i], 2), squared_norm += b[i] * b[i];
  return std::sqrt(squared_distance / std::max(squared_norm, 1e-12));
}

int64_t sliced_region_count(const Program& program) {
  const auto sliced = cpu::by_slices(program);
  if (!sliced) return 0;
  return std::count_if(sliced->code.begin(), sliced->code.end(),
                       [](const auto& i) { return i.op->name() == "sliced"; });
}

/// The number of instructions of this name in the parts of the program that are computed slice by
/// slice.
int64_t count_in_slices(const Program& program, std::string_view name) {
  int64_t count = 0;
  const auto in_slices = cpu::by_slices(program);
  if (!in_slices) return 0;
  for (const auto& i : in_slices->code) {
    auto* sliced = dynamic_cast<const cpu::Sliced*>(i.op.get());
    if (!sliced) continue;
    for (const auto& body_instruction : sliced->body->code)
      count += body_instruction.op->name() == name;
  }
  return count;
}

}  // namespace

TEST_CASE("slices of the batch give what the whole does", "[cpu][slices]") {
  const Shape shape = GENERATE(Shape{16, 32, 32, 64}, Shape{40, 32, 32, 32}, Shape{37, 36, 33, 24});
  const int64_t stride = GENERATE(1, 2);
  CAPTURE(to_text(shape), stride);
  const Tensors in = operands(shape);
  const Program program = lowered_network(in, stride, stride == 1);
  CHECK(sliced_region_count(program) >= 2);
  const Tensors wanted = run_one_by_one(program, in), got = run(program, in);
  for (size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    CHECK(relative_distance(got[i], wanted[i]) < 2e-3);
  }
  for (int64_t threads : {1, 2, 3, 7}) {
    test_device().set_threads(threads);
    const Tensors second_run = run(program, in);
    for (size_t i = 0; i < got.size(); ++i) CHECK(are_same(second_run[i], got[i]));
  }
  test_device().set_threads(0);
}

TEST_CASE("depthwise convolutions normalize row by row", "[cpu][slices]") {
  const int64_t stride = GENERATE(1, 2);
  Shape shape = GENERATE(Shape{40, 33, 36, 25}, Shape{40, 36, 33, 24}, Shape{560, 5, 1, 400});
  // A stride makes the results smaller; a larger batch makes up for this.
  shape.set(0, shape[0] * stride * stride);
  const cpu::test::Simd simd =
      GENERATE(cpu::test::kNative, cpu::test::kNoAvx512, cpu::test::kNoAvx2);
  CAPTURE(to_text(shape), stride, simd);
  cpu::test::SimdLimit limit(simd);
  const Tensors in = operands(shape);
  const Program program = lowered_network(in, stride, false);
  CHECK(count_in_slices(program, "depthwise_forward") == 1);
  CHECK(count_in_slices(program, "depthwise_backward") == 1);
  const Tensors wanted = run_one_by_one(program, in), got = run(program, in);
  for (size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    CHECK(relative_distance(got[i], wanted[i]) < 2e-3);
  }
  test_device().set_threads(3);
  const Tensors second_run = run(program, in);
  test_device().set_threads(0);
  for (size_t i = 0; i < got.size(); ++i) CHECK(are_same(second_run[i], got[i]));
}

TEST_CASE("a program may get more threads than it was compiled for", "[cpu][slices]") {
  const Tensors in = operands({16, 32, 32, 64});
  const Program program = lowered_network(in, 1, true);
  test_device().set_threads(1);
  auto executable = test_device().compile(program);
  const Tensors wanted = run(program, in);
  Tensors outputs = outputs_of(program);
  executable->run(in, {}, outputs);
  test_device().set_threads(3);
  executable->run(in, {}, outputs);
  for (size_t i = 0; i < wanted.size(); ++i) CHECK(are_same(outputs[i], wanted[i]));
  test_device().set_threads(0);
}

TEST_CASE("a profile tells the instructions of a part in slices apart", "[cpu][slices]") {
  constexpr int64_t kRuns = 2;
  const Tensors in = operands({16, 32, 32, 64});
  Program program = lowered_network(in, 1, true);
  for (size_t i = 0; i < program.code.size(); ++i) {
    program.code[i].scope = static_cast<int>(program.scopes.size());
    program.scopes.push_back(concat("layer ", i));
  }
  REQUIRE(sliced_region_count(program) >= 2);
  const int64_t threads = GENERATE(1, 3);
  test_device().set_threads(threads);
  auto executable = test_device().compile(program);
  Tensors outputs = outputs_of(program);
  executable->run(in, {}, outputs);
  executable->profile(true);
  for (int64_t run = 0; run < kRuns; ++run) executable->run(in, {}, outputs);
  test_device().set_threads(0);

  const std::vector<ProfileEntry> rows = executable->rows();
  double flops = 0;
  for (const ProfileEntry& row : rows) {
    CAPTURE(row.scope, row.op, row.kernel);
    CHECK(row.op.find(", ") == row.op.npos);
    CHECK(row.calls == kRuns);
    CHECK(row.seconds > 0);
    CHECK(row.seconds_on[1] <= row.seconds_on[0]);
    flops += row.flops;
  }
  // The profile counts at least the flops of the pointwise convolution and of its two gradients.
  CHECK(flops >= kRuns * 3 * 2.0 * 16 * 32 * 32 * 64 * 64);
  for (size_t i = 0; i < program.code.size(); ++i) {
    const std::string label = program.code[i].op->label(), scope = program.scopes[i + 1];
    if (label.find("conv") == label.npos && label.find("fused") == label.npos) continue;
    CAPTURE(scope, label);
    CHECK(std::any_of(rows.begin(), rows.end(), [&](const ProfileEntry& row) {
      return row.scope == scope && row.op == label;
    }));
  }
}

TEST_CASE("what fits the caches stays whole", "[cpu][slices]") {
  CHECK(sliced_region_count(lowered_network(operands({4, 16, 16, 32}), 1, true)) == 0);
}

TEST_CASE("a kernel is not cut where something else goes through its rows", "[cpu][slices]") {
  const Tensors in{sines({5, 60, 60, 64}, 1), sines({5, 5, 1, 64}, 2)};
  const Program program = lowered(
      [](const Tensors& x) {
        const Tensor y =
            ops::conv(ops::relu(x[0]), x[1], {1, 1}, ops::Padding::same, {1, 1}, x[0].dim(3));
        return Tensors{ops::relu(y), ops::exp(x[1])};
      },
      in);
  CHECK(sliced_region_count(program) == 1);
  const Tensors wanted = run_one_by_one(program, in), got = run(program, in);
  for (size_t i = 0; i < wanted.size(); ++i) CHECK(relative_distance(got[i], wanted[i]) < 1e-6);
}

TEST_CASE("the bias of a convolution is whole in a slice", "[cpu][slices]") {
  const Tensors in{sines({16, 32, 32, 64}, 1), sines({1, 1, 64, 64}, 2), sines({64}, 3)};
  const Program program = lowered(
      [](const Tensors& x) {
        const Tensor y = ops::conv(ops::sin(x[0]), x[1], {1, 1}, ops::Padding::same, {1, 1}, 1);
        return Tensors{ops::relu(y + x[2])};
      },
      in);
  CHECK(sliced_region_count(program) == 1);
  CHECK(program.code.back().inputs.size() == 3);
  const Tensors wanted = run_one_by_one(program, in), got = run(program, in);
  CHECK(relative_distance(got[0], wanted[0]) < 1e-6);
}

// Chains of elementwise steps that run as one kernel. The number in the comment beside a step is
// the register that gets its result.
#include "kernel/loops.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

TEST_CASE(
    "a fused chain gives what its steps give, with scalars, rows, columns and several outputs") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  using Kind = FusedStep::Kind;
  Fused op;
  op.shape = {37, 50};
  // registers: 0 x (37,50), 1 row (50), 2 column (37,1), 3 to 6 numbers
  op.steps = {{Kind::binary, {}, BinaryKind::multiply, DType::float32, {3, 4, 0}},  // register 5
              {Kind::unary, UnaryKind::sqrt, {}, DType::float32, {5, 0, 0}},        // register 6
              {Kind::binary, {}, BinaryKind::multiply, DType::float32, {0, 6, 0}},  // register 7
              {Kind::binary, {}, BinaryKind::add, DType::float32, {7, 1, 0}},       // register 8
              {Kind::unary, UnaryKind::tanh, {}, DType::float32, {8, 0, 0}},        // register 9
              {Kind::binary, {}, BinaryKind::greater, DType::boolean, {9, 2, 0}},   // register 10
              {Kind::select, {}, {}, DType::float32, {10, 9, 3}},                   // register 11
              {Kind::cast, {}, {}, DType::bfloat16, {11, 0, 0}}};                   // register 12
  op.outputs = {9, 10, 12, 6, 9};
  Array x = random({37, 50}, DType::float32, 1), row = random({50}, DType::float32, 2),
        column = random({37, 1}, DType::float32, 3);
  Array p = random({}, DType::float32, 4, 1, 2), q = random({}, DType::float32, 5, 1, 2);
  std::vector<Array> want = {zeros(op.shape), zeros(op.shape, DType::boolean),
                             zeros(op.shape, DType::bfloat16), zeros(op.shape), zeros(op.shape)};
  for (size_t i = 0; i < 37 * 50; ++i) {
    const double square_root = std::sqrt(p[0] * q[0]),
                 y = std::tanh(x.values[i] * square_root + row.values[i % 50]);
    want[0].values[i] = want[4].values[i] = y;
    want[1].values[i] = y > column.values[i / 50];
    want[2].values[i] = y > column.values[i / 50] ? y : p[0];
    want[3].values[i] = square_root;
  }
  CHECK(check(elementwise_kernels, op, {x, row, column, p, q}, want) == 2);
}

TEST_CASE("a fused chain on bfloat16, as it lies in memory and widened") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  using Kind = FusedStep::Kind;
  constexpr DType kHalf = DType::bfloat16;
  Fused op;  // registers: 0 x, 1 y, 2 a number, 3 float32 values
  op.shape = {37, 51};
  op.steps = {{Kind::binary, {}, BinaryKind::add, kHalf, {0, 1, 0}},            // register 4
              {Kind::unary, UnaryKind::relu, {}, kHalf, {4, 0, 0}},             // register 5
              {Kind::binary, {}, BinaryKind::less, DType::boolean, {2, 5, 0}},  // register 6
              {Kind::cast, {}, {}, kHalf, {3, 0, 0}},                           // register 7
              {Kind::select, {}, {}, kHalf, {6, 7, 2}}};                        // register 8
  op.outputs = {5, 6, 8};
  const Array x = random(op.shape, kHalf, 1), y = random(op.shape, kHalf, 2),
              wide = random(op.shape, DType::float32, 3);
  std::vector<Array> want = {zeros(op.shape, kHalf), zeros(op.shape, DType::boolean),
                             zeros(op.shape, kHalf)};
  for (size_t i = 0; i < 37 * 51; ++i) {
    want[0].values[i] = std::max(x.values[i] + y.values[i], 0.0);
    want[1].values[i] = want[0].values[i] > 0;
    want[2].values[i] = want[0].values[i] > 0 ? wide.values[i] : 0;
  }
  const std::vector<Array> in = {x, y, zeros({}, kHalf), wide};
  CHECK(check(elementwise_kernels, op, in, want) == 2);
  op.steps.push_back(
      // The result is register 9; there is no loop for exp on bfloat16.
      {Kind::unary, UnaryKind::exp, {}, kHalf, {4, 0, 0}});
  op.outputs.push_back(9);
  want.push_back(zeros(op.shape, kHalf));
  for (size_t i = 0; i < 37 * 51; ++i) want[3].values[i] = std::exp(x.values[i] + y.values[i]);
  CHECK(check(elementwise_kernels, op, in, want) == 2);
}

TEST_CASE("what a fused kernel compares is what others read in its memory") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  using Kind = FusedStep::Kind;
  const DType half_dtype = GENERATE(DType::float16, DType::bfloat16);
  // Registers: 0 x, 1 the number 1. The steps compute the sum 1 + x^2, and whether it equals 1.
  Fused op;
  op.shape = {1, 1031};
  op.steps = {{Kind::binary, {}, BinaryKind::multiply, half_dtype, {0, 0, 0}},   // register 2
              {Kind::binary, {}, BinaryKind::add, half_dtype, {2, 1, 0}},        // register 3
              {Kind::binary, {}, BinaryKind::equal, DType::boolean, {3, 1, 0}},  // register 4
              {Kind::select, {}, {}, half_dtype, {4, 0, 3}},                     // register 5
              {Kind::unary, UnaryKind::exp, {}, half_dtype, {5, 0, 0}}};         // register 6
  op.outputs = {4, 3, 6};
  const double largest = half_dtype == DType::float16 ? 0.05 : 0.1;
  const Array x = random(op.shape, half_dtype, 1, -largest, largest), one{{half_dtype, {}}, {1}};
  const TensorSpec result{half_dtype, op.shape};
  const TensorSpecs in{x.spec, one.spec}, out{{DType::boolean, op.shape}, result, result};
  for (int threads : {1, 3}) {
    const Outcome got = run(*make_kernel({op, in, out, Options{}}), {x, one}, out, threads);
    int64_t equal_count = 0;
    for (int64_t i = 0; i < op.shape.size(); ++i) {
      CHECK((got.outputs[0][i] != 0) == (got.outputs[1][i] == 1));
      equal_count += got.outputs[0][i] != 0;
    }
    CHECK(equal_count > 100);
    CHECK(equal_count < op.shape.size() - 100);
  }
}

TEST_CASE("steps compiled as one give the bits of single steps") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  using B = BinaryKind;
  auto binary = [](B kind, int a, int b) {
    return FusedStep{FusedStep::Kind::binary, {}, kind, DType::float32, {a, b, 0}};
  };
  auto unary = [](UnaryKind kind, int x) {
    return FusedStep{FusedStep::Kind::unary, kind, {}, DType::float32, {x, 0, 0}};
  };
  Fused adam;  // registers: 0 g, 1 m, 2 number, 3 v, 4 number, 5 epsilon, 6 rate, 7 w, 8 scale
  adam.shape = {37, 51};
  adam.steps = {binary(B::multiply, 0, 8),  binary(B::subtract, 9, 1),   binary(B::multiply, 10, 2),
                binary(B::add, 1, 11),      unary(UnaryKind::square, 9), binary(B::subtract, 13, 3),
                binary(B::multiply, 14, 4), binary(B::add, 3, 15),       unary(UnaryKind::sqrt, 16),
                binary(B::add, 17, 5),      binary(B::multiply, 12, 6),  binary(B::divide, 19, 18),
                binary(B::subtract, 7, 20)};
  adam.outputs = {12, 16, 21};
  Fused with_visible_step =
      adam;  // an intermediate result is an output, so the steps are not fused
  with_visible_step.outputs.push_back(13);
  std::vector<Array> in;
  for (int i = 0; i < 9; ++i) {
    const bool is_number = i == 2 || (i >= 4 && i != 7);
    in.push_back(random(is_number ? Shape{} : adam.shape, DType::float32, static_cast<unsigned>(i),
                        0.01, 1));
  }
  TensorSpecs specs;
  for (const Array& a : in) specs.push_back(a.spec);
  const TensorSpec spec_of_output{DType::float32, adam.shape};
  const TensorSpecs three_specs(3, spec_of_output), four_specs(4, spec_of_output);
  const Outcome outcome_with_fusion =
                    run(*make_kernel({adam, specs, three_specs, Options{}}), in, three_specs, 2),
                outcome_without_fusion =
                    run(*make_kernel({with_visible_step, specs, four_specs, Options{}}), in,
                        four_specs, 2);
  for (size_t i = 0; i < 3; ++i)
    CHECK((outcome_with_fusion.bits[i] == outcome_without_fusion.bits[i]));
}

TEST_CASE("a fused scatter sums rows where they are needed") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  using Kind = FusedStep::Kind;
  const int64_t rows = GENERATE(1, 7, 300), width = GENERATE(1, 33);
  const DType dtype = GENERATE(DType::float32, DType::float64, DType::bfloat16);
  CAPTURE(rows, width, name_of(dtype));
  Fused op;  // registers: 0 indices, 1 updates, 2 x; results: x - 2 sums, and the sums
  op.shape = {rows, width};
  op.steps = {{Kind::scatter, {}, {}, dtype, {0, 1, 0}},
              {Kind::binary, {}, BinaryKind::add, dtype, {3, 3, 0}},
              {Kind::binary, {}, BinaryKind::subtract, dtype, {2, 4, 0}}};
  op.outputs = {5, 3};
  Array indices = zeros({4, 5}, DType::int32);
  for (size_t i = 0; i < 20; ++i)
    indices.values[i] = i % 6 == 5 ? 1000 : static_cast<double>(i * i % 11) - 1;
  const Array updates = random({4, 5, width}, dtype, 1), x = random(op.shape, dtype, 2);
  std::vector<Array> want = {x, zeros(op.shape, dtype)};
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t row = std::clamp<int64_t>(static_cast<int64_t>(indices[i]), 0, rows - 1);
    for (int64_t j = 0; j < width; ++j) {
      want[1].values[static_cast<size_t>(row * width + j)] += updates[i * width + j];
      want[0].values[static_cast<size_t>(row * width + j)] -= 2 * updates[i * width + j];
    }
  }
  CHECK(check(elementwise_kernels, op, {indices, updates, x}, want, 2) == 2);
}

TEST_CASE("a fused scatter rounds sums of halves for the steps behind it") {
  const DType dtype = GENERATE(DType::float16, DType::bfloat16);
  CAPTURE(name_of(dtype));
  Fused op;  // registers: 0 indices, 1 updates; result: the sums as float32
  op.shape = {2, 33};
  op.steps = {{FusedStep::Kind::scatter, {}, {}, dtype, {0, 1, 0}},
              {FusedStep::Kind::cast, {}, {}, DType::float32, {2, 0, 0}}};
  op.outputs = {3};
  Array updates = zeros({2, 33}, dtype), ones = zeros(op.shape);
  const double lost_addend = dtype == DType::float16 ? 0x1p-12 : 0x1p-9;
  for (size_t j = 0; j < 33; ++j) updates.values[j] = 1, updates.values[33 + j] = lost_addend;
  std::fill_n(ones.values.begin(), 33, 1);
  CHECK(check(elementwise_kernels, op, {zeros({2}, DType::int32), updates}, {ones}) == 2);
}

TEST_CASE("a fused kernel says which memory may be shared") {
  using Kind = FusedStep::Kind;
  Fused op;  // m2 = m + g; w2 = w - m2 * m: m is read after m2 has been written
  op.shape = {100};
  op.steps = {{Kind::binary, {}, BinaryKind::add, DType::float32, {0, 1, 0}},
              {Kind::binary, {}, BinaryKind::multiply, DType::float32, {3, 0, 0}},
              {Kind::binary, {}, BinaryKind::subtract, DType::float32, {2, 4, 0}}};
  op.outputs = {3, 5};
  TensorSpec spec{DType::float32, {100}};
  const TensorSpecs in(3, spec), out(2, spec);
  auto kernel = make_kernel({op, in, out, Options{}});
  CHECK_FALSE(kernel->may_share(0, 0));
  CHECK(kernel->may_share(1, 0));
  CHECK(kernel->may_share(2, 1));
  CHECK(kernel->may_share(0, 1));
}

size_t operands_of(const FusedStep& step) {
  using Kind = FusedStep::Kind;
  return step.kind == Kind::select ? 3 : step.kind == Kind::binary ? 2 : 1;
}

/// The results of all steps. Each of them is an output, so that no step is fused with others.
Outcome step_by_step(const Fused& op, const std::vector<Array>& inputs, const TensorSpecs& in) {
  Fused unfused = op;
  unfused.outputs.clear();
  for (size_t i = 0; i < op.steps.size(); ++i)
    unfused.outputs.push_back(static_cast<int>(in.size() + i));
  const TensorSpecs out(op.steps.size(), {DType::float32, op.shape});
  const auto kernel = make_kernel({unfused, in, out, Options{}});
  CHECK(kernel->flops() > static_cast<double>(op.shape.size()));
  return run(*kernel, inputs, out, 2);
}

/// Checks the outputs of the fused op against its steps run one by one.
void check_outputs(const Fused& op, const std::vector<Array>& inputs, const TensorSpecs& in,
                   const Outcome& got) {
  const Outcome want = step_by_step(op, inputs, in);
  for (size_t o = 0; o < op.outputs.size(); ++o)
    CHECK((got.bits[o] == want.bits[static_cast<size_t>(op.outputs[o]) - in.size()]));
}

TEST_CASE("what is compiled as one loop gives the bits of its steps") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (const Chain& chain : chains()) {
    // Shapes of one row and of several rows. If a chain is computed row by row, an input that is
    // not a stream (not read element by element) has a single row, which is repeated.
    for (const Shape& shape : {Shape{7}, Shape{19}, Shape{5000}, Shape{9, 7}, Shape{3, 50, 33},
                               Shape{400, 96}, Shape{40, 512}}) {
      CAPTURE(chain.steps.size(), chain.is_scalar.size(), shape);
      Fused op;
      op.shape = shape;
      op.steps.assign(chain.steps.begin(), chain.steps.end());
      op.outputs.assign(chain.outputs.begin(), chain.outputs.end());
      std::vector<Array> inputs;
      TensorSpecs in;
      for (size_t i = 0; i < chain.is_scalar.size(); ++i) {
        const Shape repeated = shape.rank() > 1 && chain.row_loop ? Shape{shape[-1]} : shape,
                    of_input = chain.is_scalar[i]   ? Shape{}
                               : chain.is_stream[i] ? shape
                                                    : repeated;
        inputs.push_back(random(of_input, DType::float32, static_cast<unsigned>(i), 0.1, 1));
        in.push_back(inputs.back().spec);
      }
      if (op.steps[0].unary == UnaryKind::isnan) inputs[0].values[3] = NAN;
      const Options options;
      TensorSpecs out(op.outputs.size(), {DType::float32, op.shape});
      const auto kernel = make_kernel({op, in, out, options});
      CHECK(kernel->flops() == static_cast<double>(shape.size()));  // one step per element
      const Outcome got = run(*kernel, inputs, out, 2);
      check_outputs(op, inputs, in, got);
    }
  }
}

TEST_CASE("steps that read their own results are no loop that reads inputs in their place") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (const Chain& chain : chains()) {
    const size_t count = chain.is_scalar.size();
    Fused op;
    op.shape = {3, 19};
    op.outputs.assign(chain.outputs.begin(), chain.outputs.end());
    std::vector<Array> inputs;
    TensorSpecs in;
    for (size_t i = 0; i < count; ++i) {
      inputs.push_back(random(chain.is_scalar[i] ? Shape{} : op.shape, DType::float32,
                              static_cast<unsigned>(i), 0.1, 1));
      in.push_back(inputs.back().spec);
    }
    for (int input = 0; input < static_cast<int>(count); ++input) {
      // Replaces the input by the result of the step before the first step that reads the input.
      const auto reads_input = [&](const FusedStep& step) {
        const auto end = step.args.begin() + operands_of(step);
        return std::find(step.args.begin(), end, input) != end;
      };
      const auto first_reader = std::find_if(chain.steps.begin(), chain.steps.end(), reads_input);
      if (first_reader == chain.steps.begin() || (first_reader - 1)->dtype != DType::float32)
        continue;
      CAPTURE(chain.steps.size(), count, input);
      op.steps.assign(chain.steps.begin(), chain.steps.end());
      const int previous_result =
          static_cast<int>(count) + static_cast<int>(first_reader - chain.steps.begin()) - 1;
      for (FusedStep& step : op.steps)
        for (size_t i = 0; i < operands_of(step); ++i)
          if (step.args[i] == input) step.args[i] = previous_result;
      const TensorSpecs out(op.outputs.size(), {DType::float32, op.shape});
      const auto kernel = make_kernel({op, in, out, Options{}});
      check_outputs(op, inputs, in, run(*kernel, inputs, out, 2));
    }
  }
}

#include <hwy/targets.h>
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <limits>
#include <new>
#include <thread>

#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu::test;

namespace {

std::atomic<int64_t> allocation_calls{0};

Tensor numbers(const Shape& shape, double first = 1) {
  std::vector<float> values(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(first + static_cast<double>(i % 97) * 0.25);
  return Tensor::from(values, shape);
}

Tensors run_program(const Program& program, const Tensors& inputs, Tensors variables = {}) {
  auto executable = compile(program, test_device());
  Tensors outputs = outputs_of(program);
  executable->run(inputs, variables, outputs);
  executable->run(inputs, variables,
                  outputs);  // the second run starts with the arena contents of the first
  return outputs;
}

OpPtr binary(BinaryKind kind) {
  auto op = std::make_shared<Binary>();
  op->kind = kind;
  return op;
}

OpPtr unary(UnaryKind kind) {
  auto op = std::make_shared<Unary>();
  op->kind = kind;
  return op;
}

/// Builds a program whose values all have one shape.
struct Builder {
  explicit Builder(Shape shape = {100}) : spec{DType::float32, shape} {}
  int add_value() { return program.add_value(spec); }
  int input() { return program.inputs.push_back(add_value()), program.inputs.back(); }
  int add(OpPtr op, std::vector<int> inputs) {
    int v = add_value();
    program.code.push_back({std::move(op), std::move(inputs), {v}, 0});
    return v;
  }
  int add_variable(const Tensor& initial) {
    int v = add_value();
    program.variables.push_back({Variable(initial), v, -1});
    return v;
  }
  TensorSpec spec;
  Program program;
};

}  // namespace

// This operator is not inline, because GCC 12 would warn that memory of malloc is deleted.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocation_calls;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  ++allocation_calls;
  return std::malloc(bytes ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

TEST_CASE("a traced function computes what it says") {
  TensorSpec x{DType::float32, {64, 10}}, w{DType::float32, {10, 5}};
  auto f = [](const Tensors& in) {
    return Tensors{ops::softmax(ops::relu(ops::matmul(in[0], in[1]))), ops::sum(in[0])};
  };
  TensorSpecs specs{x, w};
  Program program = optimize(trace(f, specs));
  Tensors got = run_program(program, {numbers({64, 10}), numbers({10, 5}, -3)});
  std::vector<double> rows = got[0].to_vector();
  for (size_t r = 0; r < 64; ++r) {
    double total = 0;
    for (size_t i = 0; i < 5; ++i) total += rows[r * 5 + i];
    CHECK(total == Approx(1));
  }
  double sum = 0;
  for (double v : numbers({64, 10}).to_vector()) sum += v;
  CHECK(got[1].item() == Approx(sum));
}

TEST_CASE("outputs may be inputs, constants, one another, and reshapes of them") {
  Builder b({6});
  int x = b.input(), constant = b.add_value();
  b.program.constants.push_back({constant, numbers({6}, 50)});
  int y = b.add(unary(UnaryKind::negative), {x});
  auto reshape = std::make_shared<Reshape>();
  reshape->shape = {2, 3};
  int z = b.program.add_value({DType::float32, {2, 3}});
  b.program.code.push_back({reshape, {y}, {z}, 0});
  b.program.outputs = {x, constant, y, y, z};
  Tensors got = run_program(b.program, {numbers({6})});
  std::vector<double> expected = numbers({6}).to_vector(), negative = expected;
  for (double& v : negative) v = -v;
  CHECK(got[0].to_vector() == expected);
  CHECK(got[1].to_vector() == numbers({6}, 50).to_vector());
  for (size_t i : {2, 3, 4}) CHECK(got[i].to_vector() == negative);
}

TEST_CASE("a variable is written in place, after its last read") {
  Builder b;
  Tensor memory = numbers({100}), other_variable = numbers({100}, 7);
  int v = b.add_variable(memory), x = b.input();
  int new_value = b.add(binary(BinaryKind::add), {v, x});
  int late_square = b.add(binary(BinaryKind::multiply),
                          {v, v});  // reads the old value of v after its new value is computed
  b.program.variables[0].result = new_value;
  b.program.outputs = {late_square, v};
  Tensor x_value = numbers({100}, 2);
  auto executable = compile(b.program, test_device());
  Tensors variables{memory}, outputs = outputs_of(b.program);
  std::vector<double> value_before = memory.to_vector(), step = x_value.to_vector();
  Tensors inputs{x_value};
  executable->run(inputs, variables, outputs);
  for (size_t i = 0; i < 100; ++i) {
    CHECK(outputs[0].to_vector()[i] == Approx(value_before[i] * value_before[i]));
    CHECK(outputs[1].to_vector()[i] == value_before[i]);
    CHECK(variables[0].to_vector()[i] == Approx(value_before[i] + step[i]));
  }
}

TEST_CASE("variables may take each other's values") {
  Builder b;
  Tensor first = numbers({100}), second = numbers({100}, 1000), third = numbers({100}, 5);
  std::vector<double> first_before = first.to_vector(), second_before = second.to_vector();
  int p = b.add_variable(first), q = b.add_variable(second), r = b.add_variable(third);
  int sum = b.add(binary(BinaryKind::add), {p, q});
  b.program.variables[0].result = q;
  b.program.variables[1].result = p;
  b.program.variables[2].result = sum;
  b.program.outputs = {sum, r};
  Tensors variables{first, second, third}, outputs = outputs_of(b.program);
  std::vector<double> third_before = third.to_vector();
  auto executable = compile(b.program, test_device());
  executable->run({}, variables, outputs);
  CHECK(first.to_vector() == second_before);
  CHECK(second.to_vector() == first_before);
  CHECK(third.to_vector() == outputs[0].to_vector());
  CHECK(outputs[1].to_vector() == third_before);
}

TEST_CASE("random programs give the same as one value at a time") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::srand(seed);
    Builder b({40});
    std::vector<int> live_values = {b.input(), b.input()};
    Tensors variables{numbers({40}, 3), numbers({40}, 4)};
    for (const Tensor& m : variables) live_values.push_back(b.add_variable(m));
    std::vector<std::vector<double>> expected_values(64);
    auto set_expected = [&](int v, std::vector<double> x) {
      expected_values[static_cast<size_t>(v)] = std::move(x);
    };
    Tensors inputs{numbers({40}, 1), numbers({40}, 2)};
    set_expected(live_values[0], inputs[0].to_vector()),
        set_expected(live_values[1], inputs[1].to_vector());
    set_expected(live_values[2], variables[0].to_vector()),
        set_expected(live_values[3], variables[1].to_vector());
    for (int step = 0; step < 12; ++step) {
      int a = live_values[static_cast<size_t>(std::rand()) % live_values.size()],
          c = live_values[static_cast<size_t>(std::rand()) % live_values.size()];
      bool is_maximum = std::rand() % 2;
      int v = b.add(binary(is_maximum ? BinaryKind::maximum : BinaryKind::subtract), {a, c});
      std::vector<double> y(40);
      for (size_t i = 0; i < 40; ++i) {
        float x0 = static_cast<float>(expected_values[static_cast<size_t>(a)][i]),
              x1 = static_cast<float>(expected_values[static_cast<size_t>(c)][i]);
        y[i] = is_maximum ? std::max(x0, x1) : x0 - x1;
      }
      set_expected(v, y);
      live_values.push_back(v);
    }
    auto random_live_value = [&] {
      return live_values[static_cast<size_t>(std::rand()) % live_values.size()];
    };
    b.program.variables[0].result = random_live_value();
    if (seed % 2) b.program.variables[1].result = random_live_value();
    b.program.outputs = {random_live_value(), random_live_value(), live_values.back()};
    Tensors outputs = outputs_of(b.program);
    auto executable = compile(b.program, test_device());
    executable->run(inputs, variables, outputs);
    CAPTURE(seed, b.program.text());
    for (size_t o = 0; o < outputs.size(); ++o)
      CHECK(outputs[o].to_vector() == expected_values[static_cast<size_t>(b.program.outputs[o])]);
    for (size_t i = 0; i < 2; ++i) {
      const Program::Binding& binding = b.program.variables[i];
      CHECK(variables[i].to_vector() == expected_values[static_cast<size_t>(
                                            binding.result >= 0 ? binding.result : binding.value)]);
    }
  }
}

TEST_CASE("a chain of temporaries lives in two buffers") {
  Builder b({1 << 16});
  int v = b.input();
  for (int i = 0; i < 20; ++i) {
    auto softmax = std::make_shared<Softmax>();
    v = b.add(i % 2 ? unary(UnaryKind::sigmoid) : OpPtr(softmax), {v});
  }
  b.program.outputs = {v};
  auto executable = compile(b.program, test_device());
  CHECK(executable->arena_bytes() <= 2 * (1 << 18));
}

TEST_CASE("a value lends its memory to none of another size", "[cpu][plan]") {
  // Large enough that one thread could overwrite numbers that other threads still have to read.
  const int64_t n = 1 << 18;
  const auto f = [](const Tensors& in) {
    const Tensor cumulative_sums = ops::cumsum(in[0], 0);
    return Tensors{ops::cumsum(ops::cast(cumulative_sums, DType::float32), 0)};
  };
  const Program program = trace(f, TensorSpecs{{DType::float64, {n}}});
  CHECK(compile(program, test_device())->arena_bytes() >= static_cast<size_t>(12 * n));
}

TEST_CASE("a run allocates nothing") {
  TensorSpecs specs{
      {DType::float32, {128, 784}}, {DType::float32, {784, 64}}, {DType::float32, {64}}};
  auto f = [](const Tensors& in) {
    Tensor y = ops::relu(ops::matmul(in[0], in[1]) + in[2]);
    return Tensors{ops::log_softmax(y), ops::mean(y, {0}), ops::transpose(y), ops::argmax(y, -1)};
  };
  Program program = optimize(trace(f, specs));
  auto executable = compile(program, test_device());
  Tensors inputs{numbers({128, 784}), numbers({784, 64}), numbers({64})},
      outputs = outputs_of(program), none;
  executable->run(inputs, none, outputs);
  const int64_t calls_before = allocation_calls;
  const uint64_t storages_before = allocation_count();
  for (int i = 0; i < 10; ++i) executable->run(inputs, none, outputs);
  CHECK(allocation_calls - calls_before == 0);
  CHECK(allocation_count() == storages_before);
}

TEST_CASE("several threads run executables at once, and one executable too") {
  TensorSpecs specs{{DType::float32, {300, 300}}};
  auto f = [](const Tensors& in) {
    return Tensors{ops::sum(ops::tanh(ops::matmul(in[0], in[0])), {0})};
  };
  Program program = optimize(trace(f, specs));
  auto shared_executable = compile(program, test_device());
  const Tensor x = numbers({300, 300}, -5);
  std::vector<double> want = run_program(program, {x})[0].to_vector();
  std::atomic<int> wrong_count{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      auto own_executable = compile(program, test_device());
      Tensors inputs{x}, outputs{Tensor(TensorSpec{DType::float32, {300}})}, none;
      for (int i = 0; i < 20; ++i) {
        (i % 2 ? own_executable : shared_executable)->run(inputs, none, outputs);
        wrong_count += outputs[0].to_vector() != want;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong_count == 0);
}

TEST_CASE("a scan runs its body a step at a time, forwards and backwards") {
  for (bool reverse : {false, true}) {
    TensorSpecs specs{{DType::float32, {3}}, {DType::float32, {5, 3}}, {DType::float32, {3}}};
    auto f = [&](const Tensors& in) {
      Tensor factor = in[2];
      auto result = ops::scan(
          [&](const Tensors& states, const Tensors& step) {
            Tensor next_state = states[0] * factor + step[0];
            return ops::ScanResult{{next_state, states[1] + 1.0}, {next_state, states[1]}};
          },
          {in[0], ops::zeros({})}, {in[1]}, reverse);
      return Tensors{result.states[0], result.states[1], result.outputs[0], result.outputs[1]};
    };
    Tensor h = numbers({3}), xs = numbers({5, 3}, 2), factor = numbers({3}, 0.5);
    Tensors got = run_program(optimize(trace(f, specs)), {h, xs, factor});
    std::vector<double> state = h.to_vector(), x = xs.to_vector(), k = factor.to_vector();
    for (size_t i = 0; i < 5; ++i) {
      size_t t = reverse ? 4 - i : i;
      for (size_t j = 0; j < 3; ++j) {
        state[j] = state[j] * k[j] + x[t * 3 + j];
        CHECK(got[2].to_vector()[t * 3 + j] == Approx(state[j]));
      }
      CHECK(got[3].to_vector()[t] == static_cast<double>(i));
    }
    CHECK(got[0].to_vector()[2] == Approx(state[2]));
    CHECK(got[1].item() == 5);
  }
}

TEST_CASE("a profile has a row an instruction") {
  TensorSpecs specs{{DType::float32, {64, 64}}};
  Program program =
      trace([](const Tensors& in) { return Tensors{ops::tanh(ops::matmul(in[0], in[0]))}; }, specs);
  auto executable = compile(program, test_device());
  Tensors inputs{numbers({64, 64})}, outputs = outputs_of(program), none;
  executable->profile(true);
  for (int i = 0; i < 3; ++i) executable->run(inputs, none, outputs);
  auto rows = executable->rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].calls == 3);
  CHECK(rows[0].flops == 3 * 2.0 * 64 * 64 * 64);
  CHECK(rows[0].seconds > 0);
  CHECK(rows[0].shapes == "64x64 -> 64x64");
  CHECK(rows[0].bytes == 3 * 3.0 * 64 * 64 * 4);
  CHECK(!rows[1].kernel.empty());
  executable->profile(true);
  CHECK(executable->rows()[0].calls == 0);
}

TEST_CASE("a profile counts the rows that are gathered, not the table") {
  TensorSpecs specs{{DType::float32, {1000, 8}}, {DType::int32, {10}}};
  auto executable =
      compile(trace([](const Tensors& in) { return Tensors{ops::gather(in[0], in[1])}; }, specs),
              test_device());
  Tensors inputs{numbers({1000, 8}), Tensor({10}, DType::int32)},
      outputs{Tensor(Shape{10, 8}, DType::float32)}, none;
  executable->profile(true);
  executable->run(inputs, none, outputs);
  CHECK(executable->rows().back().bytes == 2 * 10 * 8 * 4);
}

TEST_CASE("a profile counts the arithmetic of every step of a scan") {
  TensorSpecs specs{
      {DType::float32, {1, 8}}, {DType::float32, {5, 1, 8}}, {DType::float32, {8, 8}}};
  auto executable =
      compile(trace(
                  [](const Tensors& in) {
                    return ops::scan(
                               [&](const Tensors& s, const Tensors& x) -> ops::ScanResult {
                                 return {{ops::matmul(s[0], in[2]) + x[0]}, {}};
                               },
                               {in[0]}, {in[1]})
                        .states;
                  },
                  specs),
              test_device());
  CHECK(executable->rows().size() == 1);
  Tensors inputs{numbers({1, 8}), numbers({5, 1, 8}), numbers({8, 8})}, outputs{numbers({1, 8})},
      none;
  executable->profile(true);
  executable->run(inputs, none, outputs);
  CHECK(executable->rows()[0].flops == 5 * (2 * 8 * 8 + 8));
}

TEST_CASE("the device describes itself") {
  Dict information = test_device().information();
  for (const char* key : {"processor", "threads", "loops", "onednn", "blas"})
    CHECK(information.contains(key));
  CHECK(information.at("blas").as_dict().at("path").as_string().find("openblas") !=
        std::string::npos);
}

TEST_CASE("what is too small for a normal number becomes 0, on every thread", "[cpu][plan]") {
  const int64_t size = 300000;  // enough elements for all threads
  const TensorSpec spec{DType::float32, {size}};
  const Program program = trace([](const Tensors& in) { return Tensors{in[0] * 0.5f}; }, {{spec}});
  const Tensor halves =
      run_program(program, {Tensor::full(spec.shape, std::numeric_limits<float>::min())})[0];
  CHECK(std::all_of(halves.data<float>(), halves.data<float>() + size,
                    [](float x) { return x == 0; }));
  volatile float smallest = std::numeric_limits<float>::min();
  CHECK(smallest * 0.5f > 0);  // the caller's thread does not flush denormals
}

TEST_CASE("the number of threads can change") {
  cpu::CpuDevice device;
  device.set_threads(3);
  CHECK(device.threads() == 3);
  device.set_threads(0);
  CHECK(device.threads() >= 1);
  CHECK_THROWS_WITH(device.set_threads(-1), Catch::Contains("threads"));
}

TEST_CASE("products of mixed precision run without tiles too", "[cpu][plan]") {
  const TensorSpecs specs = {{DType::float32, {40, 30}}, {DType::float32, {30, 20}}};
  Program program = optimize(trace(
      [](const Tensors& in) {
        const Tensor y =
            ops::matmul(ops::cast(in[0], DType::bfloat16), ops::cast(in[1], DType::bfloat16));
        return Tensors{ops::cast(y, DType::float32)};
      },
      specs));
  const Tensors inputs = {numbers({40, 30}, -10), numbers({30, 20}, -7)};
  const auto with_all_instructions = run_program(program, inputs)[0].to_vector();
  hwy::DisableTargets(HWY_AVX3);
  const auto without_avx512 = run_program(program, inputs)[0].to_vector();
  hwy::DisableTargets(0);
  for (size_t i = 0; i < with_all_instructions.size(); ++i)
    CHECK(without_avx512[i] == Approx(with_all_instructions[i]).epsilon(1e-2).margin(5));
}

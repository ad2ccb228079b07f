// Memory that the programs of one device share: arenas, prepared (packed) weights, and scratch
// memory of threads.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "crescent/ops/ops.h"
#include "crescent/program/program.h"
#include "memory/arenas.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu::test;
using namespace crescent::cpu;

namespace {

/// A program that applies a chain of functions to x; its intermediate values are as large as x.
Program function_chain(const Shape& shape) {
  return optimize(trace(
      [](const Tensors& in) {
        return Tensors{ops::softmax(ops::softmax(ops::softmax(in[0]) * 2.0) * 3.0)};
      },
      TensorSpecs{{DType::float32, shape}}));
}

struct PredictingProgram {
  PredictingProgram(const Variable& w, int64_t rows)
      : w_(w),
        executable_(test_device().compile(
            optimize(trace([&](const Tensors& in) { return Tensors{ops::matmul(in[0], w)}; },
                           TensorSpecs{{DType::float32, {rows, w.shape()[0]}}}),
                     {.inference = true}))),
        x_(sines({rows, w.shape()[0]}, 1)),
        y_(Shape{rows, w.shape()[1]}, DType::float32) {}
  Tensor run() { return run_with(w_.device_value(nullptr)); }
  Tensor run_with(Tensor w) {
    executable_->run(std::span(&x_, 1), std::span(&w, 1), std::span(&y_, 1));
    return y_.clone();
  }
  bool has_right_result() {
    const Tensor result = run();
    return ops::max(ops::abs(result - ops::matmul(x_, w_.value()))).item() < 1e-3;
  }
  std::vector<ProfileEntry> rows() const { return executable_->rows(); }
  void profile() { executable_->profile(true); }

 private:
  Variable w_;
  std::unique_ptr<Executable> executable_;
  Tensor x_, y_;
};

}  // namespace

TEST_CASE("elastic memory grows at once and shrinks when little was wanted for long") {
  using Memory = ElasticMemory<TensorBlock>;
  Memory memory(std::chrono::seconds(0));
  CHECK(memory.at_least(0) == nullptr);
  memory.at_least(1 << 20);
  CHECK(memory.bytes() == 1 << 20);
  auto request_often = [&](size_t bytes) {
    for (int i = 0; i < 2 * Memory::kUsesPerCheck; ++i) {
      std::byte* block = memory.at_least(bytes);
      block[0] = block[bytes - 1] = std::byte{1};
    }
  };
  request_often(600 << 10);
  CHECK(memory.bytes() == 1 << 20);
  request_often(1000);
  CHECK(memory.bytes() == 1000);
  Memory rarely_used;
  rarely_used.at_least(1 << 20);
  for (int i = 0; i < 5 * Memory::kUsesPerCheck; ++i) rarely_used.at_least(1);
  CHECK(rarely_used.bytes() == 1 << 20);
}

TEST_CASE("an arena is lent to one at a time, and goes with its last user") {
  Arenas arenas;
  const int64_t bytes_before = allocated_bytes();
  {
    const Arenas::User user(arenas);
    std::byte *first, *second;
    {
      const Arenas::Lease first_lease(arenas, 1 << 20), second_lease(arenas, 1 << 10),
          empty_lease(arenas, 0);
      first = first_lease.memory(), second = second_lease.memory();
      CHECK(first != second);
      CHECK(empty_lease.memory() == nullptr);
    }
    const Arenas::User second_user(arenas);
    const Arenas::Lease later_lease(arenas, 100);
    CHECK((later_lease.memory() == first || later_lease.memory() == second));
    CHECK(allocated_bytes() - bytes_before == (1 << 20) + (1 << 10));
  }
  CHECK(allocated_bytes() == bytes_before);
}

TEST_CASE("programs share their arena") {
  const int64_t bytes_before = allocated_bytes();
  std::vector<std::unique_ptr<Executable>> executables;
  size_t largest = 0;
  for (int64_t n = 1; n <= 20; ++n) {
    const Shape shape{64, 4096 + n};
    executables.push_back(test_device().compile(function_chain(shape)));
    largest = std::max(largest, executables.back()->arena_bytes());
    const Tensor x = sines(shape, 0);
    Tensor y(x.spec());
    executables.back()->run(std::span(&x, 1), {}, std::span(&y, 1));
  }
  CHECK(largest > size_t{1} << 20);
  CHECK(allocated_bytes() - bytes_before <= static_cast<int64_t>(2 * largest));
}

TEST_CASE("programs that run side by side, in arenas of different places, are right") {
  constexpr size_t kThreads = 3;
  std::vector<std::unique_ptr<Executable>> executables;
  std::vector<Tensor> inputs, expected;
  for (int64_t n = 0; n < 4; ++n) {
    const Shape shape{16, 300 + 100 * n};
    executables.push_back(test_device().compile(function_chain(shape)));
    inputs.push_back(sines(shape, static_cast<double>(n)));
    expected.emplace_back(inputs.back().spec());
    executables.back()->run(std::span(&inputs.back(), 1), {}, std::span(&expected.back(), 1));
  }
  std::atomic<int> wrong_count{0};
  std::vector<std::thread> threads;
  for (size_t id = 0; id < kThreads; ++id) {
    threads.emplace_back([&, id] {
      for (size_t i = 0; i < 200; ++i) {
        const size_t number = (i * (id + 1) + id) % executables.size();
        Tensor y(inputs[number].spec());
        executables[number]->run(std::span(&inputs[number], 1), {}, std::span(&y, 1));
        wrong_count += y.to_vector() != expected[number].to_vector();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong_count == 0);
}

TEST_CASE("large constants of one number share memory") {
  UniformConstants constants;
  const Tensor zeros = constants.shared(Tensor(Shape{100, 1000}, DType::float32));
  const Tensor smaller = constants.shared(Tensor(Shape{90, 1000}, DType::float32));
  const Tensor slightly_larger = constants.shared(Tensor(Shape{101, 1000}, DType::float32));
  const Tensor much_larger = constants.shared(Tensor(Shape{150, 1000}, DType::float32));
  CHECK(smaller.raw() == zeros.raw());
  CHECK(smaller.shape() == Shape{90, 1000});
  CHECK(slightly_larger.raw() == much_larger.raw());
  CHECK(much_larger.to_vector() == std::vector<double>(150000, 0));
  const Tensor ones = constants.shared(Tensor::full({100, 1000}, 1)),
               float64_zeros = constants.shared(Tensor::full({100, 1000}, 0, DType::float64));
  CHECK(ones.to_vector() == std::vector<double>(100000, 1));
  CHECK(float64_zeros.to_vector() == std::vector<double>(100000, 0));
  const Tensor varied_values = sines({100, 1000}, 0), small_tensor(Shape{3}, DType::float32);
  CHECK(constants.shared(varied_values).raw() == varied_values.raw());
  CHECK(constants.shared(small_tensor).raw() == small_tensor.raw());
}

TEST_CASE("a weight is prepared once for all programs that want it in one form") {
  const Variable w(sines({512, 512}, 3));
  PredictingProgram first(w, 200), second(w, 264);
  const auto weight_bytes = static_cast<int64_t>(w.value().bytes());
  CHECK(first.has_right_result());
  const int64_t bytes_before = allocated_bytes();
  second.profile();
  CHECK(second.has_right_result());
  CHECK(second.rows()[0].op == "prepare");
  CHECK(second.rows()[0].calls == 0);
  CHECK(allocated_bytes() - bytes_before < weight_bytes / 2 + (2 << 20));
  for (int i = 0; i < 4; ++i) {
    w.assign(sines({512, 512}, i));
    CHECK((i % 2 ? first : second).has_right_result());
    CHECK((i % 2 ? second : first).has_right_result());
  }
  // The weight was prepared after each of the four assignments, twice by each of the two programs.
  CHECK(second.rows()[0].calls == 2);
}

TEST_CASE("what another program prepared of other numbers is prepared again") {
  const Variable w(sines({300, 200}, 2));
  PredictingProgram one_program(w, 64), other_program(w, 64);
  const Tensor first_weight = sines({300, 200}, 3), second_weight = sines({300, 200}, 4);
  const auto want = one_program.run_with(first_weight).to_vector();
  CHECK(other_program.run_with(first_weight).to_vector() == want);
  CHECK(other_program.run_with(second_weight).to_vector() != want);
  CHECK(one_program.run_with(first_weight).to_vector() == want);
  CHECK(other_program.run_with(second_weight).to_vector() ==
        one_program.run_with(second_weight).to_vector());
}

TEST_CASE("what is prepared of one weight in several shapes is not taken for each other") {
  const Variable w(sines({24}, 2));
  const auto truncated = [](const Tensor& x, const Shape& shape) {
    return ops::slice(ops::reshape(x, shape), {0, 0}, {2, 3});
  };
  const Tensor x = sines({40, 2}, 1);
  const auto f = [&](const Tensors& in) {
    const Tensor value = w.value();
    return Tensors{ops::matmul(in[0], truncated(value, {4, 6})),
                   ops::matmul(in[0], truncated(value, {6, 4})), truncated(value, {8, 3}) * 2.0,
                   truncated(value, {3, 8}) * 2.0};
  };
  const auto executable = test_device().compile(trace(f, TensorSpecs{x.spec()}));
  const Tensors want = f({x});
  Tensors outputs;
  for (const Tensor& y : want) outputs.push_back(Tensor(y.spec()));
  Tensor value = w.value();
  executable->run(std::span(&x, 1), std::span(&value, 1), outputs);
  for (size_t i = 0; i < want.size(); ++i)
    CHECK(ops::max(ops::abs(outputs[i] - want[i])).item() < 1e-5);
}

TEST_CASE("prepared weights go with the last program that wants them") {
  const Variable w(sines({512, 512}, 3));
  // Runs both batch sizes once, so that memory that is allocated only once is not counted below.
  PredictingProgram(w, 1).run(), PredictingProgram(w, 200).run();
  const int64_t bytes_before = allocated_bytes();
  {
    PredictingProgram first(w, 200);
    first.run();
    PredictingProgram(w, 264).run();
    CHECK(first.has_right_result());
    CHECK(allocated_bytes() > bytes_before + static_cast<int64_t>(w.value().bytes()));
  }
  CHECK(allocated_bytes() <= bytes_before);
}

TEST_CASE("weights are prepared while other threads predict with them") {
  const Variable w(sines({256, 256}, 3)), other_weight(sines({256, 256}, 5));
  std::atomic<int> wrong_count{0};
  std::vector<std::thread> threads;
  for (int64_t id = 0; id < 3; ++id) {
    threads.emplace_back([&, id] {
      for (int64_t i = 0; i < 20; ++i) {  // new programs reuse prepared values of earlier ones
        PredictingProgram one_program(w, 40 + 8 * ((i + id) % 4)),
            other_program(other_weight, 40 + 8 * (i % 3));
        wrong_count += !one_program.has_right_result() + !other_program.has_right_result();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong_count == 0);
}

TEST_CASE("constants that somebody may write to are not taken for each other", "[cpu]") {
  const Tensor x = sines({200, 300}, 1);
  const auto program_with_constant = [&](Tensor weight) {
    weight.mutable_data<float>();
    return test_device().compile(
        optimize(trace([&](const Tensors& in) { return Tensors{ops::matmul(in[0], weight)}; },
                       TensorSpecs{x.spec()}),
                 {.inference = true}));
  };
  const Tensor first_weight = sines({300, 120}, 2), second_weight = sines({300, 120}, 3);
  const std::pair<const Tensor&, std::unique_ptr<Executable>> programs[] = {
      {first_weight, program_with_constant(first_weight.clone())},
      {second_weight, program_with_constant(second_weight.clone())}};
  for (const auto& [weight, executable] : programs) {
    Tensor y(Shape{200, 120}, DType::float32);
    executable->run(std::span(&x, 1), {}, std::span(&y, 1));
    CHECK(ops::max(ops::abs(y - ops::matmul(x, weight))).item() < 1e-3);
  }
}

TEST_CASE("prepared values are distinguished by all that they are made of", "[cpu]") {
  const Tensor x = sines({8}, 1), y = sines({8}, 2);
  PrepackCache values;
  const PrepackKey key{nullptr, "constant", 0, {x.spec()}, {}, nullptr, x.contents()};
  PrepackKey other_constant = key, other_form = key, other_output = key, other_specs = key,
             other_variable = key, other_source = key;
  other_constant.constant = y.contents();
  other_form.form = "packed", other_output.output = 1, other_variable.variable = &x;
  other_specs.specs = {{DType::int32, {8}}}, other_source.from = {values.find(key)};
  CHECK(key == PrepackKey(key));
  for (const PrepackKey& other_key :
       {other_constant, other_form, other_output, other_specs, other_variable, other_source})
    CHECK_FALSE(key == other_key);
}

TEST_CASE("what a program reads is prepared anew elsewhere while it runs", "[cpu]") {
  constexpr size_t kBytes = 4096;
  PrepackCache cache;
  const Tensor x = sines({8}, 1);
  const PrepackedValuePtr value =
      cache.find({nullptr, "constant", 0, {x.spec()}, {}, nullptr, x.contents()});
  const PrepackCache::ExecutionScope scope(cache);
  const auto get_prepared = [&] {
    PrepackCache::ExclusiveUpdate update(cache);
    std::byte* memory = update.begin(*value, kBytes);
    update.end(*value, {});
    return memory;
  };
  const std::byte* first = get_prepared();
  CHECK(get_prepared() == first);
  const PrepackCache::ExecutionScope other_scope(cache);
  CHECK(get_prepared() != first);
}

TEST_CASE("a prepared value is checked on every run", "[cpu]") {
  const Variable indices(ops::cast(Tensor::from(std::vector<double>{0, 2, 1}, {3}), DType::int32));
  const Tensor table = sines({3, 400}, 1);
  const auto executable = test_device().compile(optimize(
      trace([&](const Tensors& in) { return Tensors{ops::gather(in[0], indices.value(), 0)}; },
            TensorSpecs{table.spec()}),
      {.inference = true}));
  Tensor y(table.spec());
  const auto run = [&](const std::vector<double>& at) {
    Tensor indices = ops::cast(Tensor::from(at, {3}), DType::int32);
    executable->run(std::span(&table, 1), std::span(&indices, 1), std::span(&y, 1));
  };
  run({0, 2, 1});
  CHECK_THROWS_AS(run({0, 7, 1}), Error);
  CHECK_THROWS_AS(run({0, 7, 1}), Error);
  run({2, 2, 1});
  const Tensor new_indices =
      ops::cast(Tensor::from(std::vector<double>{2, 2, 1}, {3}), DType::int32);
  CHECK(y.to_vector() == ops::gather(table, new_indices, 0).to_vector());
}

// Collective ops of two processes.
#include <catch2/catch.hpp>

#include "crescent/ops/ops.h"
#include "crescent/program/gradient.h"
#include "crescent/program/program.h"
#include "distance.h"
#include "pair.h"

namespace crescent {
namespace {

Tensor ramp(const Shape& shape, double scale) {
  std::vector<float> values(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(scale * std::sin(1 + static_cast<double>(i)));
  return Tensor::from(values, shape);
}

/// Trains a small network for three steps on these rows, with gradients averaged over processes;
/// returns the weights and the mean loss of the last step.
Tensors train(const Tensor& x, const Tensor& y) {
  const Variable w(ramp({3, 2}, 0.5)), b(ops::zeros({2}));
  const Function step([&](const Tensors& in) {
    GradientTape tape;
    const Tensor loss =
        ops::mean(ops::square(ops::tanh(ops::matmul(in[0], w) + b.value()) - in[1]));
    const Tensors gradients = tape.gradient(loss, Variables{w, b});
    w.assign_sub(ops::all_reduce(gradients[0], ReduceKind::mean) * 0.3);
    b.assign_sub(ops::all_reduce(gradients[1], ReduceKind::mean) * 0.3);
    return Tensors{ops::all_reduce(loss, ReduceKind::mean)};
  });
  Tensor loss;
  for (int i = 0; i < 3; ++i) loss = step({x, y})[0];
  return {w.value(), b.value(), loss};
}

const Tensor& images() {
  static const Tensor x = ramp({8, 3}, 1);
  return x;
}
const Tensor& targets() {
  static const Tensor y = ramp({8, 2}, 0.7);
  return y;
}

void expect_values(const Tensor& result, const std::vector<double>& expected) {
  CHECK(result.to_vector() == expected);
}

/// The part of the test that both processes run, each on its half of the rows.
Tensors run_together() {
  // This function is compiled before the communicator is set.
  static const Function mean(
      [](const Tensors& in) { return Tensors{ops::all_reduce(in[0], ReduceKind::mean)}; });
  const auto two_processes = communicator();
  set_communicator(nullptr);
  expect_values(mean({Tensor::full({2}, 4 + two_processes->rank())})[0],
                std::vector<double>(2, 4 + two_processes->rank()));
  set_communicator(two_processes);
  expect_values(mean({Tensor::full({2}, 4 + two_processes->rank())})[0], {4.5, 4.5});
  const auto halves_of_rows = [](DType dtype) {
    return Tensor::full({3}, 2 + communicator()->rank(), dtype);
  };
  for (DType dtype : {DType::float64, DType::bfloat16, DType::float16})
    expect_values(ops::all_reduce(halves_of_rows(dtype), ReduceKind::mean), {2.5, 2.5, 2.5});

  const int rank = communicator()->rank();
  CHECK(communicator()->all_gather(rank + 5.0) == std::vector<double>{5, 6});
  communicator()->barrier();
  double received_value = rank == 1 ? 42 : 0;
  communicator()->broadcast(&received_value, sizeof received_value, 1);
  CHECK(received_value == 42);

  const Tensor x = Tensor::from(std::vector<float>{1.0f + rank, 2.0f - rank, 3}, {3});
  expect_values(ops::all_reduce(x), {3, 3, 6});
  expect_values(ops::all_reduce(x, ReduceKind::mean), {1.5, 1.5, 3});
  expect_values(ops::all_reduce(x, ReduceKind::max), {2, 2, 3});
  expect_values(ops::all_reduce(x, ReduceKind::min), {1, 1, 3});

  auto gradient = [&](ReduceKind kind) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(ops::sum(ops::all_reduce(x, kind)) * (rank + 1.0), Tensors{x})[0];
  };
  expect_values(gradient(ReduceKind::sum), {3, 3, 3});
  expect_values(gradient(ReduceKind::mean), {1.5, 1.5, 1.5});
  expect_values(gradient(ReduceKind::max), {rank == 1 ? 3.0 : 0.0, rank == 0 ? 3.0 : 0.0, 1.5});

  return train(images().view_rows(rank * 4, 4), targets().view_rows(rank * 4, 4));
}

}  // namespace

TEST_CASE("the second of two processes", "[.][second]") {
  be_second_of_two();
  run_together();
}

TEST_CASE("two processes train as one with the whole batch", "[collective]") {
  const Tensors weights_of_two = [] {
    const FirstOfTwo first("[second]");
    return run_together();
  }();

  const Tensors weights_of_one = train(images(), targets());
  for (size_t i = 0; i < weights_of_one.size(); ++i)
    CHECK(farthest(weights_of_two[i].to_vector(), weights_of_one[i].to_vector()) < 1e-6);
}

TEST_CASE("a communicator is chosen by name", "[collective]") {
  use_communicator("single");
  CHECK(communicator()->class_name() == "single");
  CHECK_THROWS_WITH(use_communicator("singel"), Catch::Contains("unknown communicator 'singel'") &&
                                                    Catch::Contains("did you mean 'single'?"));
  CHECK_THROWS_WITH(use_communicator("single", {{"size", 2}}), Catch::Contains("no option 'size'"));
  CHECK(communicator()->class_name() == "single");
}

TEST_CASE("one process alone", "[collective]") {
  const std::shared_ptr<Communicator> single = make<Communicator>("single");
  CHECK((single->rank() == 0 && single->size() == 1));
  CHECK(single->all_gather(3) == std::vector<double>{3});
  CHECK(communicator()->size() == 1);
  CHECK_THROWS_WITH(ops::all_reduce(Tensor(1.0), ReduceKind::prod),
                    Catch::Contains("expected sum, mean, max or min, got prod"));
  CHECK_THROWS_WITH(ops::all_reduce(Tensor::full({2}, 1, DType::boolean)),
                    Catch::Contains("expected numbers, got bool"));
  CHECK(ops::all_reduce(Tensor::full({1}, 3, DType::int32), ReduceKind::mean).dtype() ==
        DType::float32);
}

}  // namespace crescent

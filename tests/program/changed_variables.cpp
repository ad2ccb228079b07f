// Values that a program computes only from its variables are cached between runs; every way to
// change a variable must invalidate the cached values.
#include <catch2/catch.hpp>

#include <cmath>

#include "crescent/ops/ops.h"
#include "crescent/program/program.h"

using namespace crescent;

namespace {

/// x + 2 exp(w), where 2 exp(w) may be cached.
struct VariablePlusInput {
  explicit VariablePlusInput(const Tensor& initial) : w(initial) {}
  Variable w;
  Tensor x{Shape{4, 3}, DType::float32};
  Function f{[this](const Tensors& in) { return Tensors{in[0] + ops::exp(w.value()) * 2.0}; },
             {.inference = true}};
  /// Whether the compiled result is the one for the current values of the variables.
  bool has_right_result() {
    const Tensor expected = x + ops::exp(w.value()) * 2.0;
    return f({x})[0].to_vector() == expected.to_vector();
  }
};

Tensor row(float a) { return Tensor::from(std::vector<float>{a, a + 1, a + 2}, {3}); }

}  // namespace

TEST_CASE("what depends on unchanged variables is computed once") {
  VariablePlusInput d(row(0));
  const auto executable = d.f.executable(Tensors{d.x});
  executable->profile(true);
  for (int i = 0; i < 3; ++i) CHECK(d.has_right_result());
  d.w.assign(row(5));
  for (int i = 0; i < 3; ++i) CHECK(d.has_right_result());
  std::vector<uint64_t> call_counts;
  for (const ProfileEntry& r : executable->rows()) call_counts.push_back(r.calls);
  CHECK(call_counts == std::vector<uint64_t>{2, 6});
}

TEST_CASE("assigning is noticed, whatever memory the values come in") {
  VariablePlusInput d(row(0));
  CHECK(d.has_right_result());
  for (int i = 0; i < 50; ++i) {  // freed memory is reused
    d.w.assign(row(static_cast<float>(i)));
    CHECK(d.has_right_result());
  }
  const Tensor rows = ops::stack(Tensors{row(1), row(2), row(3)});
  for (int i = 0; i < 3; ++i) {  // several offsets in one storage
    d.w.assign(rows.view_rows(i, 1).view({3}));
    CHECK(d.has_right_result());
  }
  d.w.assign_add(row(1));
  CHECK(d.has_right_result());
}

TEST_CASE("writing through a pointer is noticed") {
  Tensor initial = row(0);
  float* early_pointer = initial.mutable_data<float>();
  VariablePlusInput d(initial);
  CHECK(d.has_right_result());
  // This write comes too late to matter, since the variable has its own memory by now.
  early_pointer[0] = 7;
  CHECK(d.w.value().to_vector() == row(0).to_vector());
  CHECK(d.has_right_result());

  Tensor value = d.w.value();
  value.mutable_data<float>()[1] = 9;
  CHECK(d.has_right_result());
  CHECK(d.w.value().to_vector() == std::vector<double>{0, 9, 2});
  Tensor second_value = d.w.value();
  float* pointer = second_value.mutable_data<float>();
  for (int i = 0; i < 3; ++i) {
    pointer[2] = static_cast<float>(i);
    CHECK(d.has_right_result());
  }

  Tensor assigned = row(3);
  d.w.assign(assigned);
  CHECK(d.has_right_result());
  assigned.mutable_data<float>()[0] = 11;
  CHECK(d.has_right_result());
}

TEST_CASE("what another program writes is noticed") {
  VariablePlusInput d(row(0));
  Function step([&](const Tensors& in) {
    d.w.assign_sub(in[0] * 0.5);
    return Tensors{};
  });
  for (int i = 0; i < 5; ++i) {
    step({row(1)});
    CHECK(d.has_right_result());
    CHECK(d.has_right_result());
  }
  Function triple([&](const Tensors& in) { return Tensors{in[0] * 3.0}; });
  for (int i = 0; i < 8; ++i) {  // the results of these runs use the same memory in turn
    d.w.assign(triple({row(static_cast<float>(i))})[0]);
    if (i % 3 != 1) CHECK(d.has_right_result());
  }
  Variable other_variable(
      d.w.value());  // the two variables share memory until one of them is changed
  Function move_value([&](const Tensors&) {
    other_variable.assign_add(1.0);
    return Tensors{};
  });
  CHECK(d.has_right_result());
  move_value({});
  CHECK(d.has_right_result());
  CHECK(other_variable.value().to_vector()[0] == d.w.value().to_vector()[0] + 1);
}

TEST_CASE("another shape is the same memory, and keeps its values when the variable changes") {
  Variable w(row(1));
  const Tensor column = ops::reshape(w.value(), {3, 1});
  CHECK(column.storage() == w.value().storage());
  Function step([&](const Tensors&) {
    w.assign_add(1.0);
    return Tensors{};
  });
  step({});
  CHECK(column.to_vector() == row(1).to_vector());
  w.assign(row(7));
  CHECK(column.to_vector() == row(1).to_vector());
  const Tensor indices = Tensor::from(std::vector<int32_t>{2, 0}, {2});
  CHECK(ops::check_indices(indices, 3, "place", "3 rows").storage() == indices.storage());
}

TEST_CASE("several programs keep what they need of one variable") {
  VariablePlusInput d(row(0));
  Function g([&](const Tensors& in) {
    return Tensors{ops::matmul(in[0], ops::reshape(d.w.value() * 3.0, {3, 1}))};
  });
  for (int i = 0; i < 6; ++i) {
    if (i % 2) d.w.assign(row(static_cast<float>(i)));
    if (i % 3) CHECK(d.has_right_result());
    CHECK(g({d.x + 1.0})[0].to_vector()[0] == Approx(3 * (3.0 * (i % 2    ? i
                                                                 : i == 0 ? 0
                                                                          : i - 1) +
                                                          3)));
  }
}

TEST_CASE("a program of variables alone gives the values of now") {
  Variable total(Tensor::scalar(0)), count(Tensor::scalar(0));
  Function result([&](const Tensors&) {
    return Tensors{total / count, ops::sqrt(total * 2.0) + 1.0};
  });
  for (int i = 1; i < 5; ++i) {
    total.assign_add(6.0 * i);
    count.assign_add(1.0);
    const Tensors results = result({});
    CHECK(results[0].item() == Approx(total.value().item() / i));
    CHECK(results[1].item() == Approx(std::sqrt(2 * total.value().item()) + 1));
  }
}

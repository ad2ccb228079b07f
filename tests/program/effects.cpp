// Ops with side effects: passes must keep them, once per run and in order.
#include <vector>

#include "crescent/program/gradient.h"
#include "passes.h"
#include "picky_device.h"

namespace crescent::passes {

using namespace ops;

namespace {

std::vector<double> logged_sums;
int clock_value = 0;

/// An op without results that logs the sum of its input x.
struct LogSum final : OpOf<LogSum> {
  static constexpr const char* kName = "write";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec>) const override { return {}; }
  Effect effect() const override { return Effect::ordered; }
  bool compute(std::span<const Tensor> in, std::span<Tensor>) const override {
    double total = 0;
    for (double x : in[0].to_vector()) total += x;
    logged_sums.push_back(total);
    return true;
  }
};

/// An op that returns its input x and logs the sum of x.
struct LoggedIdentity final : OpOf<LoggedIdentity> {
  static constexpr const char* kName = "told";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  Effect effect() const override { return Effect::ordered; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    for (int64_t i = 0; i < in[0].size(); ++i)
      out[0].mutable_data<float>()[i] = in[0].data<float>()[i];
    return LogSum().compute(in, {});
  }
};

/// An op without inputs that returns the value of a clock.
struct ClockOp final : OpOf<ClockOp> {
  static constexpr const char* kName = "now";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec>) const override { return {{DType::float32, {}}}; }
  Effect effect() const override { return Effect::state; }
  bool compute(std::span<const Tensor>, std::span<Tensor> out) const override {
    out[0].mutable_data<float>()[0] = static_cast<float>(clock_value++);
    return true;
  }
};

/// The values that a run of f logs.
template <class F>
std::vector<double> sums_logged_by(F f, const Tensors& inputs) {
  const Function compiled(f);
  compiled(inputs);
  logged_sums.clear();
  compiled(inputs);
  return logged_sums;
}

void log_sum(const Tensor& x) { apply(LogSum(), {x}); }

}  // namespace

TEST_CASE("effects: what is unread is kept when somebody sees it", "[effects]") {
  const Program p = traced(
      [](const Tensors& in) {
        log_sum(in[0] * 2.0);
        apply(LoggedIdentity(), {in[0]});
        apply(ClockOp(), {});
        return Tensors{exp(in[0])};
      },
      {f32({3})});
  CHECK(names(optimize(p)) == "multiply, write, told, exp");
  CHECK(sums_logged_by(
            [](const Tensors& in) {
              log_sum(in[0]);
              return Tensors{in[0] + 1.0};
            },
            {Tensor::full({3}, 2.0)}) == std::vector<double>{6});
}

TEST_CASE("effects: each happens once a run, when run as well", "[effects]") {
  const auto log_twice = [](const Tensors& in) {
    log_sum(in[0]), log_sum(in[0]);
    return Tensors{apply1(LoggedIdentity(), {in[0]}) + apply1(LoggedIdentity(), {in[0]})};
  };
  CHECK(sums_logged_by(log_twice, {Tensor::full({2}, 1.0)}) == std::vector<double>(4, 2.0));
  logged_sums.clear();
  log_sum(Tensor::full({2}, 3.0));
  CHECK(logged_sums == std::vector<double>{6});
}

TEST_CASE("effects: nothing with one is done while compiling or kept for later", "[effects]") {
  const Variable v(Tensor::full({4}, 0.5));
  const auto log_constant = [&](const Tensors& in) {
    log_sum(ops::zeros({2}) + 1.0), log_sum(v.value() * 2.0);
    return Tensors{in[0] + apply1(ClockOp(), {}), in[0] - apply1(ClockOp(), {})};
  };
  CHECK(sums_logged_by(log_constant, {Tensor(0.0)}) == std::vector<double>{2, 4});
  const Function compiled(log_constant, {.inference = true});
  clock_value = 10;
  CHECK(compiled({Tensor(0.0)})[0].item() == 10);
  CHECK(compiled({Tensor(0.0)})[1].item() == -13);
}

TEST_CASE("effects: their order stays when elementwise work between them is fused", "[effects]") {
  const auto f = [](const Tensors& in) {
    const Tensor a = in[0] * 2.0, b = in[0] + 1.0;
    log_sum(b);
    const Tensor c = apply1(LoggedIdentity(), {in[0]}) + a, d = tanh(c);
    log_sum(a);
    const Tensor e = apply1(LoggedIdentity(), {b}) * c;
    log_sum(e);
    return Tensors{d + e * a, exp(b)};
  };
  const Tensors x{Tensor::full({1}, 1.0)};
  const std::vector<double> expected_order{2, 1, 2, 2, 6};
  CHECK(sums_logged_by(f, x) == expected_order);
  logged_sums.clear(), f(x);
  CHECK(logged_sums == expected_order);
}

TEST_CASE("effects: what is needed early does not bring one before another", "[effects]") {
  const auto f = [](const Tensors& in) {
    const Tensor a = in[0] * 2.0, total = sum(a);  // depends on every value that is fused with a
    log_sum(in[0]);
    const Tensor logged_input = apply1(LoggedIdentity(), {in[1]});
    return Tensors{total, tanh(a + logged_input)};
  };
  const Tensors x{Tensor::full({4}, 1.0), Tensor::full({4}, 2.0)};
  const std::vector<double> expected_order{4, 8};
  CHECK(sums_logged_by(f, x) == expected_order);
  logged_sums.clear(), f(x);
  CHECK(logged_sums == expected_order);
}

TEST_CASE("effects: in a scan they happen every step", "[effects]") {
  const auto f = [](const Tensors& in) {
    scan(
        [&](const Tensors& state, const Tensors& step) -> ScanResult {
          log_sum(in[0]), log_sum(step[0]);
          return {{state[0] + step[0]}, {}};
        },
        {in[0]}, {in[1]});
    return Tensors{in[0]};
  };
  const Tensors x{Tensor(9.0), Tensor::from(std::vector<float>{1, 2}, {2})};
  CHECK(sums_logged_by(f, x) == std::vector<double>{9, 1, 9, 2});
}

TEST_CASE("effects: checks that need one do not overtake another", "[effects]") {
  const Program p = traced(
      [](const Tensors& in) {
        log_sum(in[0]);
        const Tensor rows = apply1(LoggedIdentity(), {in[1]});
        return Tensors{gather(in[0], cast(rows, DType::int32))};
      },
      {f32({3}), f32({2})});
  const std::string op_order = names(lower(p, host_device()));
  CHECK(op_order == "host_call, host_call, cast, check_indices, gather");
}

TEST_CASE("effects: random numbers are drawn each for itself, and only where read", "[effects]") {
  const auto add_random_numbers = [](const Tensors& in) {
    Random op;
    op.shape = {3};
    const Tensor state = Tensor::from(std::vector<int64_t>{1, 2}, {2});
    const Tensor a = apply1(op, {state}), b = apply1(op, {state});
    apply1(op, {state});
    return Tensors{a + b * in[0]};
  };
  CHECK(names(optimize(traced(add_random_numbers, {f32({3})}))) == "random, random, fused");
  Program p;
  p.inputs = {p.add_value({DType::int64, {2}})};
  Random op;
  op.shape = {3};
  const int a = add(p, op, {p.inputs[0]}), b = add(p, op, {p.inputs[0]});
  add(p, op, {p.inputs[0]});
  p.outputs = {a, b};
  CHECK(names(optimize(p)) == "random, random");
}

}  // namespace crescent::passes

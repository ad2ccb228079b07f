// lower() rewrites a program into ops that the device supports.
#include "crescent/device/lowering.h"

#include <set>

#include "crescent/program/gradient.h"
#include "passes.h"
#include "picky_device.h"

namespace crescent::passes {

using namespace ops;

namespace {

bool is_supported(const Op& op) {
  static const std::set<std::string_view> kSupportedOps{
      "unary", "binary", "select", "cast", "broadcast_to", "transpose", "reduce", "matmul"};
  return kSupportedOps.count(op.name()) > 0;
}

/// Lowers the program for the device, and checks on the cpu that the results are unchanged.
Program lowered(const Program& program, const Device& device, double tolerance = 1e-5) {
  const Tensors expected = run(program);
  Program result = lower(program, device);
  INFO("before:\n" << program.text() << "after:\n" << result.text());
  validate(result);
  check_same(expected, run(result), tolerance);
  return result;
}

/// An op that returns 2 x; its function compute() computes the result on the host.
struct DoubledOnHost final : OpOf<DoubledOnHost> {
  static constexpr const char* kName = "doubled";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    for (int64_t i = 0; i < in[0].size(); ++i)
      out[0].mutable_data<float>()[i] = 2 * in[0].data<float>()[i];
    return true;
  }
};

int run_count = 0;

/// An op that returns its input and counts how often it runs.
struct CountingIdentity final : OpOf<CountingIdentity> {
  static constexpr const char* kName = "counted";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    ++run_count;
    for (int64_t i = 0; i < in[0].size(); ++i)
      out[0].mutable_data<float>()[i] = in[0].data<float>()[i];
    return true;
  }
};

/// An op that should return its input, but whose decomposition gives another shape.
struct OpOfWrongShape final : OpOf<OpOfWrongShape> {
  static constexpr const char* kName = "misshapen";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  Tensors decompose(std::span<const Tensor> in) const override { return {ops::sum(in[0])}; }
};

/// An op whose decomposition is the op itself.
struct EndlessOp final : OpOf<EndlessOp> {
  static constexpr const char* kName = "endless";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  Tensors decompose(std::span<const Tensor> in) const override { return {apply1(*this, {in[0]})}; }
};

/// An op that has neither a kernel nor a decomposition.
struct UnknownOp final : OpOf<UnknownOp> {
  static constexpr const char* kName = "unknown";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
};

}  // namespace

TEST_CASE("lowering: compound ops become simple ones where they are not taken", "[lowering]") {
  const Program p = traced(
      [](const Tensors& in) {
        return Tensors{ops::softmax(in[0]), layer_norm(in[0], in[1], in[1], 1e-3)};
      },
      {f32({4, 6}), f32({6})});
  const Program q = lowered(p, PickyDevice(is_supported));
  REQUIRE(q.code.size() > 5);
  for (const auto& i : q.code) CHECK((is_supported(*i.op) || i.op->name() == "reshape"));
  CHECK(names(lowered(p, PickyDevice([](const Op&) { return true; }))) == names(p));
}

TEST_CASE("lowering: what is simple and not taken is left to the host", "[lowering]") {
  const Program p = traced(
      [](const Tensors& in) {
        return Tensors{top_k(in[0] * 2.0, 2)[0], cumsum(in[0], 0, false)};
      },
      {f32({4, 6})});
  CHECK(names(lowered(p, PickyDevice(is_supported))) == "multiply, host_call, host_call");
  CHECK(names(lowered(p, PickyDevice([](const Op&) { return false; }))) ==
        "host_call, host_call, host_call");
}

TEST_CASE("lowering: an op of somebody else is computed by itself", "[lowering]") {
  const Program p = traced(
      [](const Tensors& in) { return Tensors{apply1(DoubledOnHost(), {in[0]})}; }, {f32({3})});
  const Program q = lowered(p, host_device());
  CHECK(names(q) == "host_call");
  CHECK(q.code[0].op->label() == "doubled");
  CHECK(apply1(DoubledOnHost(), {Tensor::full({3}, 1.5)}).to_vector() ==
        std::vector<double>(3, 3.0));
}

TEST_CASE("lowering: an op that computes by itself is not asked to before it is run",
          "[lowering]") {
  CHECK(CountingIdentity().computes());
  CHECK_FALSE(UnknownOp().computes());
  const Program p = traced(
      [](const Tensors& in) { return Tensors{apply1(CountingIdentity(), {in[0]})}; }, {f32({3})});
  run_count = 0;
  CHECK(names(lower(p, host_device())) == "host_call");
  CHECK(run_count == 0);
  apply1(CountingIdentity(), {Tensor::full({3}, 1)});
  CHECK(run_count == 1);
}

TEST_CASE("lowering: what nobody can compute is named", "[lowering]") {
  auto message_for = [](auto op) {
    try {
      lower(traced([&](const Tensors& in) { return Tensors{apply1(op, {in[0]})}; }, {f32({3})}),
            host_device());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(message_for(UnknownOp()) ==
        "the cpu device has no way to run unknown on (float32(3,)): it has no decompose(), no "
        "compute() and no CpuKernel that is registered as 'unknown'");
  CHECK(message_for(OpOfWrongShape()) ==
        "misshapen: decompose() gave (float32()), expected (float32(3,))");
  CHECK(message_for(EndlessOp()) == "endless: it decomposes into ops that decompose without end");
}

TEST_CASE("lowering: identities and empty results are no instructions", "[lowering]") {
  Program p;
  const int x = p.add_value(f32({3, 4})), empty_x = p.add_value(f32({0, 4}));
  p.inputs = {x, empty_x};
  const int stop_gradient = add(p, StopGradient(), {x}), empty_result = add(p, Unary(), {empty_x});
  const int y = add(p, Unary(), {stop_gradient});
  p.outputs = {y, empty_result, stop_gradient};
  const Program q = lowered(p, host_device());
  CHECK(names(q) == "negative");
  CHECK(q.outputs[2] == q.inputs[0]);
}

TEST_CASE("lowering: sums of nothing are zeros", "[lowering]") {
  const Program p = traced([](const Tensors& in) { return Tensors{matmul(in[0], in[1]) + in[2]}; },
                           {f32({3, 0}), f32({0, 2}), f32({2})});
  CHECK(names(lowered(p, host_device())).find("matmul") == std::string::npos);
}

TEST_CASE("lowering: what needs nothing is computed once", "[lowering]") {
  Program p;
  const int filled_table = add(p, fill_op({2, 3}, 7), {});
  const int x = p.add_value(f32({2, 3}));
  p.inputs = {x};
  p.outputs = {add(p, binary_op(BinaryKind::add), {x, filled_table})};
  const Program q = lowered(p, PickyDevice(is_supported));
  CHECK(names(q) == "add");
  REQUIRE(q.constants.size() == 1);
  CHECK(q.constants[0].tensor.to_vector() == std::vector<double>(6, 7.0));
}

TEST_CASE("lowering: the body of a scan is lowered, or the scan left to the host", "[lowering]") {
  const Program p = traced(
      [](const Tensors& in) {
        const auto r = scan(
            [&](const Tensors& state, const Tensors& step) -> ScanResult {
              return {{ops::softmax(state[0] + step[0])}, {state[0]}};
            },
            {in[0]}, {in[1]});
        return Tensors{r.states[0], r.outputs[0]};
      },
      {f32({2, 3}), f32({5, 2, 3})});
  const Program q =
      lowered(p, PickyDevice([](const Op& op) { return is_supported(op) || op.name() == "scan"; }));
  REQUIRE(names(q) == "scan");
  const Program& scan_body = *op<Scan>(q, 0).body;
  CHECK(names(scan_body).find("softmax") == std::string::npos);
  CHECK(scan_body.code.size() > 2);
  CHECK(names(lowered(p, PickyDevice(is_supported))) == "host_call");
}

TEST_CASE("lowering: checks of what is given come first", "[lowering]") {
  const Program p = traced(
      [](const Tensors& in) {
        const Tensor h = exp(in[0]);
        return Tensors{h, gather(in[0], cast(in[1], DType::int32))};
      },
      {f32({4, 3}), {DType::int64, {5}}});
  CHECK(names(lower(p, host_device())) == "cast, check_indices, exp, gather");
}

TEST_CASE("lowering: passes make only what the device is capable of", "[lowering]") {
  const Program p = traced(
      [](const Tensors& in) {
        const Tensor y = relu(conv(in[0], in[1], {1}, Padding::same) + in[2]);
        return Tensors{max_pool(y, {2}, {2}, Padding::valid), tanh(exp(y) * 2.0)};
      },
      {f32({2, 6, 3}), f32({3, 3, 4}), f32({4})});
  auto op_names_for = [&](Capabilities capabilities_) {
    const PickyDevice device([](const Op&) { return true; }, capabilities_);
    return names(optimize(p, {.device = &device}));
  };
  CHECK(op_names_for({}) == "conv, add, relu, pool, exp, multiply, tanh");
  CHECK(op_names_for({.fused = true}) == "conv, fused, pool");
  CHECK(op_names_for({.post_ops = true}) == "conv+bias+relu, pool, exp, multiply, tanh");
  CHECK(names(optimize(p)) == "conv+bias+relu, pool, fused");
}

TEST_CASE("lowering: of post-ops a device may take some", "[lowering]") {
  const Program p = optimize(
      traced([](const Tensors& in) { return Tensors{relu(matmul(in[0], in[1]) + in[2] + in[3])}; },
             {f32({4, 3}), f32({3, 5}), f32({5}), f32({4, 5})}));
  REQUIRE(names(p) == "matmul+bias+add+relu");
  auto supports_epilogues_up_to = [](size_t count) {
    return PickyDevice([count](const Op& op) {
      auto* with_post_ops = dynamic_cast<const WithPostOps*>(&op);
      return with_post_ops ? with_post_ops->post.size() <= count : is_supported(op);
    });
  };
  CHECK(names(lowered(p, supports_epilogues_up_to(3))) == names(p));
  CHECK(names(lowered(p, supports_epilogues_up_to(2))) == "matmul+bias, add, relu");
  CHECK(names(lowered(p, supports_epilogues_up_to(0))) == "matmul, add, add, relu");
}

TEST_CASE("lowering: mixed precision is done with casts where it is not taken", "[lowering]") {
  const DType narrow_dtype = DType::bfloat16, float32 = DType::float32;
  const Program p = optimize(traced(
      [=](const Tensors& in) {
        return Tensors{cast(matmul(cast(in[0], narrow_dtype), cast(in[1], narrow_dtype)), float32)};
      },
      {f32({4, 3}), f32({3, 5})}));
  REQUIRE(names(p) == "matmul");
  CHECK(names(lowered(p, PickyDevice(is_supported), 2e-2)) == "cast, cast, matmul, cast");
}

TEST_CASE("lowering: winners of poolings and moments are worked out on the host", "[lowering]") {
  const Program p = optimize(traced(
      [](const Tensors& in) {
        GradientTape tape;
        tape.watch(in[0]);
        const Tensor x =
            batch_norm_train(conv(in[0], in[1], {1}, Padding::same), in[2], in[2], 0.1).y;
        const Tensor y = max_pool(x, {2}, {2}, Padding::valid);
        return Tensors{y, tape.gradient(sum(y * y), Tensors{in[0]})[0]};
      },
      {f32({2, 6, 12}), f32({3, 12, 12}), f32({12})}));
  REQUIRE(names(p).find("conv+moments") != std::string::npos);
  REQUIRE(names(p).find("pool_argmax_backward") != std::string::npos);
  const Program q = lowered(p, PickyDevice(is_supported), 1e-4);
  for (const auto& i : q.code) {
    const std::string_view name = i.op->name();
    CHECK((is_supported(*i.op) || name == "reshape" || name == "host_call"));
  }
}

TEST_CASE("lowering: memory is free behind the last use", "[lowering]") {
  const Program p = traced(
      [](const Tensors& in) {
        const Tensor rows = reshape(exp(in[0]), {6});
        const Tensor y = tanh(rows), total = sum(in[0]);
        return Tensors{y + total};
      },
      {f32({2, 3})});
  REQUIRE(names(p) == "exp, reshape, tanh, reduce, add");
  const std::vector<int> last_use_indices = last_uses(p);
  auto last_use_of = [&](size_t instruction) {
    return last_use_indices[static_cast<size_t>(p.code[instruction].outputs[0])];
  };
  CHECK(last_use_indices[static_cast<size_t>(p.inputs[0])] == 3);
  CHECK(last_use_of(0) == 2);  // the last reader is tanh, which reads the memory as shape (6)
  CHECK(last_use_of(1) == 2);
  CHECK(last_use_of(2) == 4);
  CHECK(last_use_of(4) == 5);  // the value is an output
}

TEST_CASE("lowering: what a variable becomes is kept to the end", "[lowering]") {
  const Variable total(Tensor::full({2, 3}, 1)), flat_total(Tensor::full({6}, 1));
  const Program p = traced(
      [&](const Tensors& in) {
        const Tensor sum = total + in[0];
        total.assign(sum);
        flat_total.assign(reshape(exp(in[0]), {6}));
        return Tensors{tanh(exp(sum * 2.0))};
      },
      {f32({2, 3})});
  const std::vector<int> last = last_uses(p);
  REQUIRE(p.variables.size() == 2);
  for (const Program::Binding& b : p.variables)
    CHECK(last[static_cast<size_t>(b.result)] == static_cast<int>(p.code.size()));
}

}  // namespace crescent::passes

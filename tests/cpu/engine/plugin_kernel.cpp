// Kernels of other plugins: the device tries them after its own and before it decomposes an op, and
// errors that they throw name the plugin.
#include <catch2/catch.hpp>
#include <stdexcept>

#include "crescent/device/cpu_kernel.h"
#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "crescent/program/program.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu::test;
using Catch::Matchers::Contains;

namespace {

/// An op whose compute() returns x + 1; `mode` tells its kernel how to behave.
struct TestOp final : OpOf<TestOp> {
  static constexpr const char* kName = "test.guarded";
  int mode = 0;
  auto fields() const { return std::tie(mode); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    for (int64_t i = 0; i < in[0].size(); ++i)
      out[0].mutable_data<float>()[i] = in[0].data<float>()[i] + 1;
    return true;
  }
};
enum Mode { kWorks, kDeclines, kThrowsEarly, kThrowsLate, kThrowsInRegion, kFails };

/// A kernel that returns 2 x instead, so that tests see whether the kernel or compute() ran.
class TestKernel final : public CpuKernel {
 public:
  static void describe(Schema<TestKernel>& s) { s.doc("For tests."); }
  bool prepare(const CpuRequest& r) override {
    mode_ = r.op_as<TestOp>()->mode, size_ = r.outputs[0].shape.size();
    if (mode_ == kThrowsEarly) throw std::out_of_range("early");
    return mode_ != kDeclines;
  }
  void run(const CpuArguments& a) override {
    if (mode_ == kThrowsLate) throw std::out_of_range("late");
    if (mode_ == kFails) fail("the rows are odd");
    auto* thread_part = reinterpret_cast<float*>(a.scratch);
    a.threads.blocks(size_, 100, [&](int64_t begin, int64_t end) {
      if (mode_ == kThrowsInRegion) throw 7;
      for (int64_t i = begin; i < end; ++i) thread_part[i] = a.in<float>(0)[i];
      for (int64_t i = begin; i < end; ++i) a.out<float>(0)[i] = 2 * thread_part[i];
    });
  }
  size_t scratch_bytes() const override { return static_cast<size_t>(size_) * sizeof(float); }
  double flops() const override { return static_cast<double>(size_); }

 private:
  int mode_ = 0;
  int64_t size_ = 0;
};

std::unique_ptr<Executable> compiled_program(Mode mode) {
  static const bool is_registered = (registry().add<TestKernel>("test.guarded"), true);
  REQUIRE(is_registered);
  TestOp op;
  op.mode = mode;
  return compile(optimize(trace([&](const Tensors& in) { return Tensors{apply1(op, {in[0]})}; },
                                TensorSpecs{{DType::float32, {1000}}})),
                 test_device());
}

Tensor run_on_sines(Executable& executable) {
  const Tensor x = sines({1000}, 1);
  Tensor y(x.spec());
  executable.run(std::span(&x, 1), {}, std::span(&y, 1));
  return y;
}

}  // namespace

TEST_CASE("a registered kernel serves its op, and a profile names it") {
  const auto executable = compiled_program(kWorks);
  executable->profile(true);
  const std::vector<double> y = run_on_sines(*executable).to_vector(),
                            x = sines({1000}, 1).to_vector();
  for (size_t i = 0; i < x.size(); ++i) CHECK(y[i] == 2 * x[i]);
  const ProfileEntry row = executable->rows().at(0);
  CHECK(row.op == "test.guarded");
  CHECK_THAT(row.kernel, !Contains("host"));
  CHECK(row.flops == 1000);
}

TEST_CASE("a kernel that declines leaves its op to compute()") {
  CHECK(run_on_sines(*compiled_program(kDeclines)).to_vector()[3] == Approx(std::sin(4.0) + 1));
}

TEST_CASE("what a kernel throws names the op and the plugin, and the device goes on") {
  CHECK_THROWS_WITH(compiled_program(kThrowsEarly),
                    Contains("kernel of test.guarded of plugin '") && Contains("early"));
  const auto throws_late = compiled_program(kThrowsLate),
             throws_in_region = compiled_program(kThrowsInRegion), fails = compiled_program(kFails),
             works = compiled_program(kWorks);
  for (int i = 0; i < 2; ++i) {
    CHECK_THROWS_WITH(run_on_sines(*throws_late),
                      Contains("kernel of test.guarded") && Contains("late"));
    CHECK_THROWS_WITH(run_on_sines(*throws_in_region),
                      Contains("kernel of test.guarded") && Contains("an exception of type int"));
    CHECK_THROWS_WITH(run_on_sines(*fails),
                      Contains("test.guarded") && Contains("the rows are odd"));
    CHECK(run_on_sines(*works).to_vector()[0] == Approx(2 * std::sin(1.0)));
  }
}

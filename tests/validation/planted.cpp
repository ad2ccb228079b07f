// Planted faults: validation must find passes and kernels that have one fault each, and name them.
#include <algorithm>
#include <catch2/catch.hpp>

#include "compile/passes/rewriting/rewriting.h"
#include "crescent/device/cpu_kernel.h"
#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"
#include "crescent/plugin.h"
#include "crescent/program/gradient.h"
#include "validation/check.h"

using namespace crescent;
using namespace crescent::passes;
using validation::check;
using validation::CheckedProgram;

namespace {

Tensor sample_numbers(const Shape& shape, int64_t seed = 1) {
  return SeedGenerator(seed).uniform(shape, -1, 1);
}

using Body = std::function<Tensors(const Tensors&)>;

CheckedProgram traced_program(const Body& body, const Tensors& inputs) {
  TensorSpecs specs;
  for (const Tensor& input : inputs) specs.push_back(input.spec());
  return validation::checked_program(trace(body, specs), false, inputs);
}

Validation validation_of(const CheckedProgram& program) {
  Validation report;
  check(program, "step", {}, report);
  return report;
}

/// The program compiled with a faulty pass before the usual passes.
CheckedProgram with_faulty_pass(CheckedProgram checked_program, const char* name,
                                bool (*faulty_pass)(Program&)) {
  const auto usual_passes = checked_program.optimize;
  checked_program.optimize = [=](Program program, const PassObserver& observer) {
    dead_code(program);
    observer("dead_code", program);
    if (faulty_pass(program)) observer(name, program);
    return usual_passes(std::move(program), observer);
  };
  return checked_program;
}

/// Changes the first instruction with this op.
template <class T, class F>
bool change_first(Program& program, F&& change) {
  for (Program::Instruction& i : program.code) {
    auto* op = as<T>(*i.op);
    if (!op) continue;
    T changed_op = *op;
    if (!change(changed_op, i)) continue;
    i.op = std::make_shared<const T>(std::move(changed_op));
    return true;
  }
  return false;
}

Tensors network(const Tensors& in) {
  const ProgramScope scope("dense");
  const Tensor hidden = ops::tanh(ops::matmul(in[0], in[1]) + in[2]);
  const Tensor rounded_slice =
      ops::cast(ops::cast(ops::slice_axis(hidden, 1, 1, 5) * 3.0, DType::int32), DType::float32);
  return {ops::mean(hidden, {0}), ops::sum(rounded_slice * 0.25, {1})};
}

const Tensors& data() {
  static const Tensors data{sample_numbers({6, 6}, 1), sample_numbers({6, 6}, 2),
                            sample_numbers({6}, 3)};
  return data;
}

Finding only_finding(const Validation& report) {
  REQUIRE(report.findings.size() == 1);
  return report.findings[0];
}

bool wrong_axis(Program& program) {
  return change_first<Reduce>(program, [](Reduce& op, const auto&) {
    if (op.axes != std::vector<int>{0}) return false;
    op.axes = {1};
    return true;
  });
}

bool wrong_start(Program& program) {
  return change_first<Slice>(program, [](Slice& op, const auto&) {
    ++op.start[1];
    return true;
  });
}

/// Makes all readers of `value` read the value `replacement` instead.
void read_instead(Program& program, int value, int replacement) {
  for (Program::Instruction& i : program.code)
    std::replace(i.inputs.begin(), i.inputs.end(), value, replacement);
  std::replace(program.outputs.begin(), program.outputs.end(), value, replacement);
}

/// The fault of a pass: replaces x + y by x.
bool dropped_term(Program& program) {
  for (const Program::Instruction& i : program.code) {
    auto* op = as<Binary>(*i.op);
    if (!op || op->kind != BinaryKind::add) continue;
    read_instead(program, i.outputs[0], i.inputs[0]);
    return true;
  }
  return false;
}

/// The fault of a pass: removes a cast to integers and back.
bool lost_cast(Program& program) {
  for (size_t i = 1; i < program.code.size(); ++i) {
    const Program::Instruction &first = program.code[i - 1], &second = program.code[i];
    if (!as<Cast>(*first.op) || !as<Cast>(*second.op)) continue;
    read_instead(program, second.outputs[0], first.inputs[0]);
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a program that is compiled rightly has no findings") {
  const Validation report = validation_of(traced_program(network, data()));
  CHECK(report.ok());
  CHECK(report.kernels > 0);
  CHECK(report.elements > 0);
}

TEST_CASE("a pass that rewrites wrongly is named, with the instruction") {
  struct FaultyPass {
    const char* name;
    bool (*pass)(Program&);
    const char* instruction;
  };
  for (const FaultyPass& row : {FaultyPass{"wrong_axis", wrong_axis, "reduce_mean 6x6 -> 6"},
                                FaultyPass{"wrong_start", wrong_start, "slice 6x6 -> 6x4"},
                                FaultyPass{"dropped_term", dropped_term, "add 6x6, 6 -> 6x6"},
                                FaultyPass{"lost_cast", lost_cast, "cast int32 6x4 -> 6x4"}}) {
    INFO(row.name);
    const Finding finding = only_finding(
        validation_of(with_faulty_pass(traced_program(network, data()), row.name, row.pass)));
    CHECK(finding.pass == row.name);
    CHECK(finding.instruction == row.instruction);
    CHECK(finding.layer == "dense");
    CHECK(finding.kernel.empty());
    CHECK(std::abs(finding.got - finding.expected) > finding.bound);
  }
}

namespace {

/// The faults that the kernel can have.
enum class Fault : uint8_t { none, stride, term, tail, axis, rounding };
Fault current_fault = Fault::none;

/// An op (x (rows, columns)) -> cumulative sums of 2 x along each row.
struct DoubledSums final : OpOf<DoubledSums> {
  static constexpr const char* kName = "tests.doubled";
  auto fields() const { return std::tuple<>(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  Tensors decompose(std::span<const Tensor> in) const override {
    return {ops::cumsum(in[0] + in[0], 1)};
  }
};

class DoubledKernel final : public CpuKernel {
 public:
  static void describe(Schema<DoubledKernel>& s) { s.doc("Wrong in one way at a time."); }
  bool prepare(const CpuRequest& r) override {
    rows_ = r.inputs[0].shape[0], columns_ = r.inputs[0].shape[1];
    return r.inputs[0].dtype == DType::float32;
  }
  void run(const CpuArguments& a) override {
    const float* x = a.in<float>(0);
    float* y = a.out<float>(0);
    const int64_t stride = current_fault == Fault::stride ? columns_ - 1 : columns_;
    for (int64_t i = 0; i < rows_; ++i) {
      float sum = 0;
      for (int64_t j = 0; j < columns_; ++j) {
        const bool is_last = j + 1 == columns_;
        const float value = current_fault == Fault::axis ? x[j % rows_ * columns_ + i % columns_]
                                                         : x[i * stride + j];
        sum += current_fault == Fault::term && j == 3 ? value : 2 * value;
        if (current_fault == Fault::rounding) sum = bfloat16_to_float(float_to_bfloat16(sum));
        y[i * columns_ + j] = current_fault == Fault::tail && is_last ? 0 : sum;
      }
    }
  }
  std::string name() const override { return "doubled"; }

 private:
  int64_t rows_ = 0, columns_ = 0;
};

struct KernelRegistration {
  KernelRegistration() { registry().add<DoubledKernel>(DoubledSums::kName); }
};

}  // namespace

TEST_CASE("a kernel that computes wrongly is named, with the layer that asked for it") {
  static const KernelRegistration registration;
  const Body body = [](const Tensors& in) {
    const ProgramScope scope("running");
    return Tensors{ops::relu(apply1(DoubledSums(), {ops::exp(in[0])})) - 1.0};
  };
  for (Fault tested_fault :
       {Fault::none, Fault::stride, Fault::term, Fault::tail, Fault::axis, Fault::rounding}) {
    INFO(static_cast<int>(tested_fault));
    current_fault = tested_fault;
    const Validation report = validation_of(traced_program(body, {sample_numbers({5, 9})}));
    current_fault = Fault::none;
    if (tested_fault == Fault::none) {
      CHECK(report.ok());
      continue;
    }
    const Finding finding = only_finding(report);
    CHECK(finding.instruction == "tests.doubled 5x9 -> 5x9");
    CHECK(finding.layer == "running");
    CHECK(finding.kernel == "doubled");
    CHECK(finding.pass.empty());
    if (tested_fault == Fault::tail) CHECK(finding.element.back() == 8);
  }
}

TEST_CASE("what the caller's executable gives is checked, too") {
  const CheckedProgram program = traced_program(network, data());
  validation::ProgramResult outcome;
  const Function function(network);
  outcome.outputs = function(data());
  Validation report;
  check(
      program, "step", [&] { return outcome; }, report);
  CHECK(report.ok());
  outcome.outputs[1] = outcome.outputs[1] + 0.01;
  check(
      program, "step", [&] { return outcome; }, report);
  CHECK(only_finding(report).instruction == "output 2 of the model's own executable");
}

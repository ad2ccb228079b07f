#include "validation/check.h"

#include <algorithm>
#include <map>

#include "compile/lowering/lowering.h"
#include "validation/comparison.h"
#include "validation/evaluator.h"

namespace crescent::validation {
namespace {

using Instruction = Program::Instruction;
using Values = std::vector<BoundedPtr>;

/// The program after one of the optimization passes.
struct ProgramAfterPass {
  std::string pass;
  Program program;
};

InitialValues initial_values_of(const Program& program, const Tensors& inputs, Rounding rounding) {
  InitialValues initial_values;
  const auto bounded = [&](const Tensor& tensor) {
    return std::make_shared<const Bounded>(Bounded::of(tensor.to(nullptr), rounding));
  };
  for (const Tensor& input : inputs) initial_values.inputs.push_back(bounded(input));
  for (const Program::Binding& b : program.variables)
    initial_values.variables.emplace(b.variable.id(), bounded(b.variable.value()));
  return initial_values;
}

/// A result of a program: an output, or the value of a variable.
struct Result {
  std::string name;
  const void* variable;  ///< null for an output
  BoundedPtr value;
};

std::vector<Result> results_of(const Program& program, const Values& values,
                               const InitialValues& initial_values) {
  std::vector<Result> results;
  for (size_t i = 0; i < program.outputs.size(); ++i)
    results.push_back({concat("output ", i + 1), nullptr, values[program.outputs[i]]});
  for (const Program::Binding& b : program.variables)
    results.push_back({"variable " + b.variable.path(), b.variable.id(),
                       b.result >= 0 ? values[b.result] : initial_values.of(b.variable)});
  return results;
}

const Result* find_same_result(const std::vector<Result>& results, const Result& expected,
                               size_t index) {
  if (!expected.variable) return &results[index];
  const auto entry = std::find_if(results.begin(), results.end(), [&](const Result& result) {
    return result.variable == expected.variable;
  });
  // null for a variable that optimization passes have removed because nothing needs it
  return entry == results.end() ? nullptr : &*entry;
}

std::string scope_of(const Program& program, const Instruction& i) {
  return program.scopes[i.scope];
}

const Instruction* producer_of(const Program& program, int value) {
  for (const Instruction& i : program.code)
    if (std::find(i.outputs.begin(), i.outputs.end(), value) != i.outputs.end()) return &i;
  return nullptr;
}

/// Compares the optimized program with the recorded one, both evaluated in float64.
class PassCheck {
 public:
  PassCheck(const CheckedProgram& subject, const Program& lowered_program,
            const std::vector<ProgramAfterPass>& stages)
      : subject_(subject),
        lowered_program_(lowered_program),
        stages_(stages),
        initial_values_(initial_values_of(subject.recorded, subject.inputs, Rounding::float64)) {}

  std::optional<Finding> compare(Validation& report) {
    const Program& recorded_program = subject_.recorded;
    const std::vector<Result> expected_results = results_of(
        recorded_program, Evaluator(Rounding::float64).run(recorded_program, initial_values_),
        initial_values_);
    Comparison comparison(Rounding::float64);
    std::optional<Finding> finding =
        first_difference(lowered_program_, expected_results, comparison);
    comparison.report(report);
    if (finding) locate_fault(*finding, expected_results);
    return finding;
  }

 private:
  std::optional<Finding> first_difference(const Program& program,
                                          const std::vector<Result>& expected,
                                          Comparison& comparison) const {
    const std::vector<Result> actual_results = results_of(
        program, Evaluator(Rounding::float64).run(program, initial_values_), initial_values_);
    std::optional<Finding> first_finding;
    for (size_t i = 0; i < expected.size(); ++i) {
      const Result* result = find_same_result(actual_results, expected[i], i);
      if (!result) continue;
      std::optional<Finding> finding = comparison(*result->value, *expected[i].value);
      if (!finding || first_finding) continue;
      finding->instruction = expected[i].name;
      first_finding = std::move(finding);
    }
    return first_finding;
  }

  /// Finds the pass that introduced the difference and, in the program before that pass, the
  /// instruction that it rewrote wrongly.
  void locate_fault(Finding& finding, const std::vector<Result>& expected) const {
    const Program* program_before = &subject_.recorded;
    for (const ProgramAfterPass& stage : stages_) {
      Comparison comparison(Rounding::float64);
      if (auto stage_finding = first_difference(stage.program, expected, comparison)) {
        finding = std::move(*stage_finding);
        finding.pass = stage.pass;
        find_instruction(*program_before, stage.program, finding);
        return;
      }
      program_before = &stage.program;
    }
    finding.pass = "lowering";
  }

  void find_instruction(const Program& old_program, const Program& new_program,
                        Finding& finding) const {
    const Values values_before =
                     Evaluator(Rounding::float64).run(old_program, initial_values_, true),
                 values_after =
                     Evaluator(Rounding::float64).run(new_program, initial_values_, true);
    const Comparison comparison(Rounding::float64);
    const auto difference = [&](int old_value, int new_value) -> std::optional<Finding> {
      const auto a = static_cast<size_t>(old_value), b = static_cast<size_t>(new_value);
      if (a >= values_before.size() || !values_before[a] || !values_after[b] ||
          !(values_before[a]->spec == values_after[b]->spec))
        return {};
      return comparison.worst_finding(*values_after[b], *values_before[a]);
    };
    const auto report_fault = [&](const Instruction& i, Finding new_finding) {
      new_finding.step = finding.step, new_finding.pass = finding.pass;
      new_finding.instruction = text_of(old_program, i),
      new_finding.layer = scope_of(old_program, i);
      finding = std::move(new_finding);
    };
    for (const Instruction& i : new_program.code) {
      for (int value : i.outputs) {
        const Instruction* old_instruction = producer_of(old_program, value);
        auto operand_finding = old_instruction ? difference(value, value) : std::nullopt;
        if (!operand_finding) continue;
        // If the pass has replaced an operand by a different value, the fault lies in the
        // instruction that computes the operand.
        for (size_t k = 0; k < i.inputs.size() && i.inputs.size() == old_instruction->inputs.size();
             ++k) {
          auto replaced_finding = difference(old_instruction->inputs[k], i.inputs[k]);
          const Instruction* producer =
              replaced_finding ? producer_of(old_program, old_instruction->inputs[k]) : nullptr;
          if (producer) return report_fault(*producer, std::move(*replaced_finding));
        }
        return report_fault(*old_instruction, std::move(*operand_finding));
      }
    }
    const auto report_if_different = [&](int old_value, int new_value) {
      auto result_finding = difference(old_value, new_value);
      const Instruction* producer = result_finding ? producer_of(old_program, old_value) : nullptr;
      if (producer) report_fault(*producer, std::move(*result_finding));
      return producer != nullptr;
    };
    for (size_t o = 0; o < old_program.outputs.size(); ++o)
      if (report_if_different(old_program.outputs[o], new_program.outputs[o])) return;
    for (const Program::Binding& b : old_program.variables)
      for (const Program::Binding& a : new_program.variables)
        if (a.variable == b.variable && a.result >= 0 && b.result >= 0 &&
            report_if_different(b.result, a.result))
          return;
  }

  const CheckedProgram& subject_;
  const Program& lowered_program_;
  const std::vector<ProgramAfterPass>& stages_;
  InitialValues initial_values_;
};

/// A run of the compiled program that records the results of its kernels.
class ObservedRun {
 public:
  ObservedRun(const CheckedProgram& subject, const Program& lowered_program)
      : lowered_program_(lowered_program) {
    const auto executable =
        lowering::keep_strings_alive(lowered_program, subject.device->compile(lowered_program));
    Memory* const memory = subject.device->memory();
    Tensors inputs, variables;
    for (const Tensor& input : subject.inputs) inputs.push_back(input.to(memory));
    for (const Program::Binding& b : lowered_program.variables)
      variables.push_back(b.variable.value().clone(memory));
    for (int value : lowered_program.outputs)
      outputs_.push_back(Tensor::uninitialized(spec(value), memory));
    executable->watch([this](int value, const std::string& kernel, const void* bytes) {
      if (static_cast<size_t>(value) >= lowered_program_.values.size()) return;
      const TensorSpec& value_spec = spec(value);
      const auto count = static_cast<size_t>(value_spec.bytes());
      results_[value] = {Tensor::from_bytes(bytes, count, value_spec), kernel};
    });
    executable->run(inputs, variables, outputs_);
    executable->watch({});
    for (Tensor& output : outputs_) output = output.to(nullptr);
    for (size_t i = 0; i < variables.size(); ++i)
      variables_.emplace(lowered_program.variables[i].variable.id(), variables[i].to(nullptr));
  }

  struct KernelResult {
    Tensor value;
    std::string kernel;
  };
  const KernelResult* result_of(int value) const {
    const auto entry = results_.find(value);
    return entry == results_.end() ? nullptr : &entry->second;
  }
  ProgramResult outcome() const { return {outputs_, variables_}; }

 private:
  const TensorSpec& spec(int value) const { return lowered_program_.values[value]; }

  const Program& lowered_program_;
  std::map<int, KernelResult> results_;
  Tensors outputs_;
  std::unordered_map<const void*, Tensor> variables_;
};

/// Compares the result of each kernel with a result in float64, which is computed from the same
/// inputs as those of the kernel.
class KernelCheck {
 public:
  KernelCheck(const CheckedProgram& subject, const Program& lowered_program,
              const std::vector<ProgramAfterPass>& stages)
      : subject_(subject),
        lowered_program_(lowered_program),
        stages_(stages),
        comparison_(Rounding::own),
        observed_(subject, lowered_program),
        initial_values_(initial_values_of(lowered_program, subject.inputs, Rounding::own)) {}

  std::optional<Finding> compare(const std::function<ProgramResult()>& outcome,
                                 Validation& report) {
    Evaluator evaluator(Rounding::own, [&](const Instruction& i, int value, BoundedPtr& result) {
      compare_result(i, value, result, report);
    });
    const std::vector<Result> expected_results = results_of(
        lowered_program_, evaluator.run(lowered_program_, initial_values_), initial_values_);
    compare_outcome(observed_.outcome(), expected_results, "a run");
    if (outcome && !finding_) compare_callers_results(outcome(), expected_results);
    comparison_.report(report);
    return finding_;
  }
  const std::vector<double>& ratios() const { return comparison_.ratios(); }

 private:
  /// Compares the result of a kernel with the expected one. Later instructions are evaluated with
  /// the kernel's result, so that errors do not add up.
  void compare_result(const Instruction& i, int value, BoundedPtr& result, Validation& report) {
    const ObservedRun::KernelResult* kernel_result = observed_.result_of(value);
    if (!kernel_result) return;
    ++report.kernels;
    auto actual_result =
        std::make_shared<const Bounded>(Bounded::of(kernel_result->value, Rounding::own));
    auto finding = comparison_(*actual_result, *result);
    result = std::move(actual_result);
    if (!finding || finding_) return;
    finding->instruction = text_of(lowered_program_, i),
    finding->layer = scope_of(lowered_program_, i);
    finding->kernel = kernel_result->kernel, finding->pass = pass_of(i);
    finding_ = std::move(finding);
  }

  /// The pass that created the instruction; empty for an instruction of the recorded program.
  std::string pass_of(const Instruction& lowered_instruction) const {
    const auto contains_op = [&](const Program& program) {
      return std::any_of(program.code.begin(), program.code.end(), [&](const Instruction& i) {
        return i.op->equals(*lowered_instruction.op);
      });
    };
    if (contains_op(subject_.recorded)) return "";
    for (const ProgramAfterPass& stage : stages_)
      if (contains_op(stage.program)) return stage.pass;
    return "lowering";
  }

  void compare_outcome(const ProgramResult& actual, const std::vector<Result>& expected,
                       const char* run_name) {
    for (size_t i = 0; i < expected.size(); ++i) {
      const Result& result = expected[i];
      const Tensor& value =
          result.variable ? actual.variables.at(result.variable) : actual.outputs[i];
      auto finding = comparison_(Bounded::of(value, Rounding::own), *result.value);
      if (!finding || finding_) continue;
      finding->instruction = concat(result.name, " of ", run_name);
      finding_ = std::move(finding);
    }
  }

  /// Checks the results of the caller's executable. They must be equal to those of the observed
  /// run. If they differ, because threads have summed in another order, they must lie within the
  /// error bounds of the whole program.
  void compare_callers_results(const ProgramResult& actual,
                               const std::vector<Result>& observed_results) {
    std::optional<std::vector<Result>> whole_program_results;
    for (size_t i = 0; i < observed_results.size(); ++i) {
      const Result& result = observed_results[i];
      const Tensor& value =
          result.variable ? actual.variables.at(result.variable) : actual.outputs[i];
      Bounded reference = *result.value;
      reference.bound.clear();
      const Bounded actual_value = Bounded::of(value, Rounding::own);
      if (!Comparison(Rounding::own).worst_finding(actual_value, reference)) continue;
      if (!whole_program_results)
        whole_program_results = results_of(
            lowered_program_, Evaluator(Rounding::own).run(lowered_program_, initial_values_),
            initial_values_);
      auto finding = comparison_(actual_value, *(*whole_program_results)[i].value);
      if (!finding || finding_) continue;
      finding->instruction = concat(result.name, " of the model's own executable");
      finding_ = std::move(finding);
    }
  }

  const CheckedProgram& subject_;
  const Program& lowered_program_;
  const std::vector<ProgramAfterPass>& stages_;
  Comparison comparison_;
  ObservedRun observed_;
  InitialValues initial_values_;
  std::optional<Finding> finding_;
};

}  // namespace

CheckedProgram checked_program(Program recorded, bool inference, Tensors inputs) {
  Device& device = crescent::device();
  return {std::move(recorded),
          [&device, inference](Program program, const passes::PassObserver& observer) {
            return passes::optimize(std::move(program), inference, device.capabilities(), observer);
          },
          &device, std::move(inputs)};
}

std::vector<double> check(const CheckedProgram& subject, const std::string& step,
                          const std::function<ProgramResult()>& outcome, Validation& report) {
  std::vector<ProgramAfterPass> stages;
  const Program optimized =
      subject.optimize(subject.recorded, [&](std::string_view pass, const Program& program) {
        stages.push_back({std::string(pass), program});
      });
  const Program lowered_program = lower(optimized, *subject.device);
  report.steps.push_back(step);
  report.instructions += static_cast<int64_t>(subject.recorded.code.size());
  std::optional<Finding> finding = PassCheck(subject, lowered_program, stages).compare(report);
  KernelCheck kernels(subject, lowered_program, stages);
  std::optional<Finding> kernel_finding = kernels.compare(outcome, report);
  for (auto* candidate : {&finding, &kernel_finding}) {
    if (!*candidate) continue;
    (*candidate)->step = step;
    report.findings.push_back(std::move(**candidate));
  }
  return kernels.ratios();
}

}  // namespace crescent::validation

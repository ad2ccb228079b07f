// validate: compares the compiled steps of a model with their recorded programs; variables that the
// steps changed are restored.
#include <algorithm>
#include <cstdio>

#include "crescent/tensor/variable.h"
#include "system/operation.h"
#include "training/pass.h"
#include "validation/check.h"

namespace crescent {
namespace {

/// Returns the program of a step as it was recorded, before optimization passes.
Program recorded_program(const CompiledStep& step) {
  return trace(
      [&](const Tensors& inputs) {
        Tensors outputs;
        step.function.call(inputs, outputs, step.function_key);
        return outputs;
      },
      specs_of(step.inputs));
}

/// Runs the executable that the model itself uses for the step, and restores the variables
/// afterwards.
validation::ProgramResult run_executable(const CompiledStep& step, const Program& program) {
  const Transaction transaction;  // the destructor restores the variables
  validation::ProgramResult run_result;
  step.function.call(step.inputs, run_result.outputs, step.function_key);
  for (Tensor& output : run_result.outputs) output = output.clone(nullptr);
  for (const Program::Binding& binding : program.variables)
    run_result.variables.emplace(binding.variable.id(), binding.variable.value().clone(nullptr));
  return run_result;
}

/// Checks the steps of a model one after another.
class StepChecks {
 public:
  void add(const char* name, const CompiledStep& step, bool is_inference) {
    const Program program = recorded_program(step);
    const std::vector<double> error_ratios = validation::check(
        validation::checked_program(program, is_inference, step.inputs), name,
        [&] { return run_executable(step, program); }, report_);
    error_ratios_.insert(error_ratios_.end(), error_ratios.begin(), error_ratios.end());
  }
  Validation finish() {
    if (!error_ratios_.empty()) {
      const auto median =
          error_ratios_.begin() + static_cast<std::ptrdiff_t>(error_ratios_.size() / 2);
      std::nth_element(error_ratios_.begin(), median, error_ratios_.end());
      report_.tightness = *median;
    }
    return std::move(report_);
  }

 private:
  Validation report_;
  std::vector<double> error_ratios_;
};

std::string index_text(const std::vector<int64_t>& index) {
  std::string text;
  for (int64_t i : index) text += concat(text.empty() ? "" : ", ", i + 1);
  return "[" + text + "]";
}

void add_lines(const Finding& finding, std::vector<std::string>& lines) {
  lines.push_back(concat("WRONG in ", finding.step, ": ", finding.instruction));
  if (!finding.layer.empty()) lines.push_back("  layer    " + finding.layer);
  if (!finding.pass.empty())
    lines.push_back("  pass     " + finding.pass +
                    (finding.kernel.empty() ? "" : " (made the instruction)"));
  if (!finding.kernel.empty()) lines.push_back("  kernel   " + finding.kernel);
  const auto without_sign_of_nan = [](double x) { return x != x ? std::abs(x) : x; };
  char text[160];
  std::snprintf(text, sizeof text, "got %.9g, expected %.9g, bound %.3g",
                without_sign_of_nan(finding.got), without_sign_of_nan(finding.expected),
                without_sign_of_nan(finding.bound));
  lines.push_back(concat("  element  ", index_text(finding.element), ": ", text));
}

std::vector<std::string> summary_of(const Validation& report) {
  std::vector<std::string> lines;
  for (const Finding& finding : report.findings) add_lines(finding, lines);
  const double undecided_share = report.elements > 0 ? 100 * static_cast<double>(report.undecided) /
                                                           static_cast<double>(report.elements)
                                                     : 0;
  char text[160];
  std::snprintf(text, sizeof text, "%.2g %% of %lld elements undecided, errors at %.2g of bounds",
                undecided_share, static_cast<long long>(report.elements), report.tightness);
  lines.push_back(concat(report.ok() ? "All within bounds: " : "Checked: ", join(report.steps),
                         "; ", report.instructions, " instructions, ", report.kernels,
                         " results of kernels; ", text));
  return lines;
}

}  // namespace

Validation Model::validate(const Tensors& x, const Tensors& y, const Dict& option_values) {
  const LongOperation operation;
  const ValidateOptions options = parse<ValidateOptions>("validate", option_values);
  if (!y.empty()) check_compiled(*this);
  if (training_->spec.is_compiled && training_->spec.options.run_eagerly)
    fail("validate: a model that runs eagerly has no compiled step");
  const Arrays arrays = checked_arrays(*this, x, y, y.empty() ? Value() : options.sample_weight);
  const int64_t batch_size =
      std::min(options.batch_size.value_or(batch_size_for(*this, {})), arrays.samples());
  const Arrays batch = rows(arrays, 0, batch_size);

  Stepper stepper(*this);
  StepChecks checks;
  if (!y.empty()) {
    checks.add("train_step", stepper.compiled_train({batch.x, batch.y, batch.weights}), false);
    checks.add("test_step", stepper.compiled_test({batch.x, batch.y, batch.weights}), true);
  }
  checks.add("predict_step", stepper.compiled_predict(batch.x), true);
  Validation report = checks.finish();
  report.lines = summary_of(report);
  return report;
}

}  // namespace crescent

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

/// Records the program of a step, without any pass.
Program recorded_program(const CompiledStep& step) {
  return trace(
      [&](const Tensors& inputs) {
        Tensors outputs;
        step.function.call(inputs, outputs, step.key);
        return outputs;
      },
      specs_of(step.inputs));
}

/// Runs the executable that the model uses, and restores the variables afterwards.
validation::ProgramResult run_own(const CompiledStep& step, const Program& program) {
  const Transaction transaction;  // the destructor restores the variables
  validation::ProgramResult run_result;
  step.function.call(step.inputs, run_result.outputs, step.key);
  for (Tensor& output : run_result.outputs) output = output.clone(nullptr);
  for (const Program::Binding& b : program.variables)
    run_result.variables.emplace(b.variable.id(), b.variable.value().clone(nullptr));
  return run_result;
}

/// Checks the steps of a model one after another.
class StepChecks {
 public:
  void add(const char* name, const CompiledStep& step, bool inference) {
    const Program program = recorded_program(step);
    const std::vector<double> ratios = validation::check(
        validation::checked_program(program, inference, step.inputs), name,
        [&] { return run_own(step, program); }, report_);
    ratios_.insert(ratios_.end(), ratios.begin(), ratios.end());
  }
  Validation finish() {
    if (!ratios_.empty()) {
      const auto median = ratios_.begin() + static_cast<std::ptrdiff_t>(ratios_.size() / 2);
      std::nth_element(ratios_.begin(), median, ratios_.end());
      report_.tightness = *median;
    }
    return std::move(report_);
  }

 private:
  Validation report_;
  std::vector<double> ratios_;
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
  const auto number = [](double x) { return x != x ? std::abs(x) : x; };
  char text[160];
  std::snprintf(text, sizeof text, "got %.9g, expected %.9g, bound %.3g", number(finding.got),
                number(finding.expected), number(finding.bound));
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
  const int64_t size =
      std::min(options.batch_size.value_or(batch_size_for(*this, {})), arrays.samples());
  const Arrays batch = rows(arrays, 0, size);

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

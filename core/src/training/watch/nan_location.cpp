#include "training/watch/nan_location.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "layer/layer_access.h"
#include "training/watch/statistics.h"
#include "training/watch/step_watch.h"

namespace crescent {
namespace {

constexpr size_t kMaxRows = 8;  // the most rows that a message lists

/// Records the loss and the gradients of a step while it is traced.
class StepTargets final : public UpdateObserver {
 public:
  void on_loss(const Tensor& loss) override { add(loss, "the loss"); }
  void on_gradients(Tensors& gradients, const Variables& variables) override {
    for (size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i]) add(gradients[i], "the gradient of " + variables[i].path());
  }
  Tensors tensors;
  std::vector<std::string> titles;

 private:
  void add(const Tensor& tensor, std::string title) {
    tensors.push_back(tensor);
    titles.push_back(std::move(title));
  }
};

bool is_checkable(const Tensor& t) {
  return t && t.in_memory() && (is_floating(t.dtype()) || t.dtype() == DType::boolean);
}

enum class NonFiniteKind { none, infinite, nan };

NonFiniteKind non_finite_kind(const Tensor& t) {
  if (!is_checkable(t)) return NonFiniteKind::none;
  const TensorStatistics statistics = *statistics_of(t);
  return statistics.nan > 0   ? NonFiniteKind::nan
         : statistics.inf > 0 ? NonFiniteKind::infinite
                              : NonFiniteKind::none;
}

/// Runs a recorded step again op by op and stores all of its values.
class RecomputedStep {
 public:
  RecomputedStep(const Program& program, const Tensors& inputs)
      : program_(program), values_(program.values.size()), producer_(program.values.size(), -1) {
    for (size_t i = 0; i < inputs.size(); ++i) values_[program.inputs[i]] = inputs[i];
    for (const Program::Constant& constant : program.constants)
      values_[constant.value] = constant.tensor;
    for (const Program::Binding& binding : program.variables)
      values_[binding.value] = binding.variable.value();
    for (size_t i = 0; i < program.code.size(); ++i) run(i);
  }
  const Tensor& value(int value_index) const { return values_[value_index]; }
  int producer(int value_index) const { return producer_[value_index]; }

  /// Returns the index of the value in which a NaN or an infinity originates. Starts at the value
  /// with the index `value_index` and goes back through operands that contain NaN or, if `kind` is
  /// infinite, NaN or an infinity.
  int origin_of(int value_index, NonFiniteKind kind) const {
    for (int next_value_index = value_index; next_value_index >= 0;
         next_value_index = earliest_bad_operand(next_value_index, kind))
      value_index = next_value_index;
    return value_index;
  }
  /// Among the operands of the instruction that computes the value, returns the first computed one
  /// that contains NaN or, if `kind` is infinite, NaN or an infinity; -1 if there is none.
  int earliest_bad_operand(int value_index, NonFiniteKind kind) const {
    if (producer_[value_index] < 0) return -1;
    int earliest_operand = -1;
    for (int input : program_.code[producer_[value_index]].inputs)
      if (non_finite_kind(values_[input]) >= kind &&
          (earliest_operand < 0 || producer_[input] < producer_[earliest_operand]))
        earliest_operand = input;
    return earliest_operand;
  }

 private:
  void run(size_t i) {
    const Program::Instruction& instruction = program_.code[i];
    Tensors inputs;
    for (int input : instruction.inputs) inputs.push_back(values_[input]);
    const Tensors outputs = crescent::apply(instruction.op, inputs);
    for (size_t k = 0; k < outputs.size(); ++k) {
      values_[instruction.outputs[k]] = outputs[k];
      producer_[instruction.outputs[k]] = static_cast<int>(i);
    }
  }

  const Program& program_;
  Tensors values_;
  std::vector<int> producer_;  ///< indexed by value: the instruction that computes it, or -1
};

/// A result of the step that is not finite, and the value in which its NaN or infinity originates.
struct Cause {
  std::string title;
  NonFiniteKind kind;
  int result_index, origin_index;
};

/// The numbers, counted from 1, of the rows that have an element which is not finite: "5, 17 (389,
/// 1211 of the data)".
std::string rows_text(const Tensor& t, int64_t samples, const std::vector<int64_t>& rows) {
  if (t.rank() == 0 || t.dim(0) != samples) return "";
  const std::vector<double> elements = t.to_vector();
  const size_t row_size = elements.size() / static_cast<size_t>(samples);
  std::vector<std::string> batch_rows, data_rows;
  size_t count = 0;
  for (size_t row = 0; row < static_cast<size_t>(samples); ++row) {
    const auto begin = elements.begin() + static_cast<std::ptrdiff_t>(row * row_size);
    if (std::all_of(begin, begin + static_cast<std::ptrdiff_t>(row_size),
                    [](double x) { return std::isfinite(x); }))
      continue;
    if (++count > kMaxRows) continue;
    batch_rows.push_back(to_text(static_cast<int64_t>(row + 1)));
    if (row < rows.size()) data_rows.push_back(to_text(rows[row] + 1));
  }
  if (batch_rows.empty()) return "";
  const std::string ellipsis = count > kMaxRows ? ", ..." : "";
  return concat(count == 1 ? "row " : "rows ", join(batch_rows), ellipsis, " of the batch",
                data_rows.empty() ? "" : concat(" (", join(data_rows), ellipsis, " of the data)"));
}

/// The text "nan in 3 of 320 elements".
std::string count_text(const Tensor& t) {
  const TensorStatistics statistics = *statistics_of(t);
  if (t.size() == 1) return statistics.nan > 0 ? "nan" : "inf";
  const std::string size_text = concat(" of ", t.size(), " elements");
  if (statistics.nan > 0 && statistics.inf > 0)
    return concat("nan in ", statistics.nan, " and inf in ", statistics.inf, size_text);
  return concat(statistics.nan > 0 ? "nan in " : "inf in ", statistics.nan + statistics.inf,
                size_text);
}

std::string range_text(const Tensor& t) {
  if (t.size() == 0 || !statistics_of(t)) return to_text(t.shape());
  const TensorStatistics statistics = *statistics_of(t);
  if (std::isnan(statistics.min)) return concat(to_text(t.shape()), " without a finite element");
  std::string text = concat(to_text(t.shape()), " from ", short_number(statistics.min), " to ",
                            short_number(statistics.max));
  if (statistics.nan + statistics.inf > 0) text += ", with " + count_text(t);
  return text;
}

class CauseText {
 public:
  CauseText(const Model& model, const Program& program, const RecomputedStep& recomputed_step,
            const Batch& batch, const std::vector<int64_t>& rows)
      : model_(model),
        program_(program),
        recomputed_step_(recomputed_step),
        batch_(batch),
        rows_(rows) {}

  std::string text_of(const Cause& cause, int loss_index) const {
    std::string text =
        concat(cause.title, " is not finite: ", count_text(value(cause.result_index)));
    add_origin(text, cause.origin_index, loss_index);
    const int infinite_value_index =
        cause.kind == NonFiniteKind::nan
            ? recomputed_step_.earliest_bad_operand(cause.origin_index, NonFiniteKind::infinite)
            : -1;
    if (infinite_value_index < 0) return text;
    text += "\n  What is infinite there:";
    add_origin(text, recomputed_step_.origin_of(infinite_value_index, NonFiniteKind::infinite),
               loss_index);
    return text;
  }

 private:
  const Tensor& value(int value_index) const { return recomputed_step_.value(value_index); }
  void add_line(std::string& text, const std::string& line) const {
    if (!line.empty()) text += "\n  " + line;
  }
  void add_origin(std::string& text, int origin_index, int loss_index) const {
    const int producer = recomputed_step_.producer(origin_index);
    if (producer < 0)
      add_line(text, text_of_source(origin_index));
    else
      add_instruction(text, program_.code[producer],
                      producer > recomputed_step_.producer(loss_index));
    const int64_t samples = batch_.x.front().dim(0);
    add_line(text, rows_text(value(origin_index), samples, rows_));
  }
  /// Describes a value that no instruction computes: a weight, a part of the data or a constant.
  std::string text_of_source(int value_index) const {
    for (const Program::Binding& binding : program_.variables)
      if (binding.value == value_index)
        return concat("It begins in the weight ", binding.variable.path(), ": ",
                      count_text(value(value_index)));
    const auto position = std::find(program_.inputs.begin(), program_.inputs.end(), value_index);
    if (position == program_.inputs.end()) return "It begins in a constant";
    const auto index = static_cast<size_t>(position - program_.inputs.begin());
    return concat("It begins in the data, ", part_of_data(index), ": ",
                  count_text(value(value_index)));
  }
  std::string part_of_data(size_t index) const {
    const size_t x_count = batch_.x.size(), y_count = batch_.y.size();
    if (index < x_count) return x_count == 1 ? "x" : concat("x[", index + 1, "]");
    if (index < x_count + y_count)
      return y_count == 1 ? "y" : concat("y[", index - x_count + 1, "]");
    return "sample_weight";
  }
  void add_instruction(std::string& text, const Program::Instruction& instruction,
                       bool is_backward) const {
    std::vector<std::string> shapes;
    for (int input : instruction.inputs) shapes.push_back(to_text(program_.values[input].shape));
    const std::string layer_path = path_in_model(program_.scopes[instruction.scope]);
    add_line(text,
             concat("It begins in ", layer_path.empty() ? "the step" : layer_path,
                    is_backward ? " (backward)" : " (forward)", ", op ", instruction.op->label(),
                    " ", join(shapes), " -> ", to_text(value(instruction.outputs[0]).shape()), ": ",
                    count_text(value(instruction.outputs[0]))));
    for (size_t i = 0; i < instruction.inputs.size(); ++i)
      add_line(text, concat("Input ", i + 1, ": ", range_text(value(instruction.inputs[i]))));
  }
  std::string path_in_model(const std::string& scope) const {
    const std::string prefix = model_.name() + "/";
    return scope.starts_with(prefix) ? scope.substr(prefix.size()) : scope;
  }

  const Model& model_;
  const Program& program_;
  const RecomputedStep& recomputed_step_;
  const Batch& batch_;
  const std::vector<int64_t>& rows_;
};

/// Among all results that are not finite, returns the one whose NaN or infinity is computed first
/// in the program.
std::optional<Cause> first_cause(const Program& program, const RecomputedStep& recomputed_step,
                                 const std::vector<std::string>& titles) {
  std::optional<Cause> earliest_cause;
  for (size_t i = 0; i < titles.size(); ++i) {
    const int result_index = program.outputs[i];
    const NonFiniteKind kind = non_finite_kind(recomputed_step.value(result_index));
    if (kind == NonFiniteKind::none) continue;
    const int origin_index = recomputed_step.origin_of(result_index, kind);
    if (!earliest_cause || recomputed_step.producer(origin_index) <
                               recomputed_step.producer(earliest_cause->origin_index))
      earliest_cause = Cause{titles[i], kind, result_index, origin_index};
  }
  return earliest_cause;
}

}  // namespace

std::string locate_nan(Model& model, const Batch& batch, const std::vector<int64_t>& rows) {
  const StepLock lock(model);
  const CompiledStep step = Stepper(model).compiled_train(batch);
  StepTargets targets;
  const Program program = trace(
      [&](const Tensors& inputs) {
        Tensors logs;
        step.function.call(inputs, logs, step.function_key);
        return targets.tensors;
      },
      specs_of(step.inputs));
  const Transaction transaction;  // the destructor restores the variables
  const RecomputedStep recomputed_step(program, step.inputs);
  const std::optional<Cause> cause = first_cause(program, recomputed_step, targets.titles);
  if (!cause)
    return "the compiled step gave a number that is not finite, the same step op by op does not: "
           "the numbers are near the limits of their dtype";
  return CauseText(model, program, recomputed_step, batch, rows)
      .text_of(*cause, program.outputs[0]);
}

}  // namespace crescent

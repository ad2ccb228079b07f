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

bool is_number(const Tensor& t) {
  return t && t.in_memory() && (is_floating(t.dtype()) || t.dtype() == DType::boolean);
}

enum class NonFiniteKind { none, infinite, nan };

NonFiniteKind non_finite_kind(const Tensor& t) {
  if (!is_number(t)) return NonFiniteKind::none;
  const TensorStatistics statistics = *statistics_of(t);
  return statistics.nan > 0   ? NonFiniteKind::nan
         : statistics.inf > 0 ? NonFiniteKind::infinite
                              : NonFiniteKind::none;
}

/// Runs a recorded step again op by op and keeps all of its values.
class RecomputedStep {
 public:
  RecomputedStep(const Program& program, const Tensors& inputs)
      : program_(program), values_(program.values.size()), producer_(program.values.size(), -1) {
    for (size_t i = 0; i < inputs.size(); ++i) values_[program.inputs[i]] = inputs[i];
    for (const Program::Constant& c : program.constants) values_[c.value] = c.tensor;
    for (const Program::Binding& b : program.variables) values_[b.value] = b.variable.value();
    for (size_t i = 0; i < program.code.size(); ++i) run(i);
  }
  const Tensor& value(int number) const { return values_[number]; }
  int producer(int number) const { return producer_[number]; }

  /// Follows an infinity or NaN from value `number` back through operands that are at least as bad
  /// (NaN is worse than infinity), and returns the value in which it originates.
  int origin_of(int number, NonFiniteKind bad_kind) const {
    for (int next_instruction = number; next_instruction >= 0;
         next_instruction = operand(next_instruction, bad_kind))
      number = next_instruction;
    return number;
  }
  /// Among the operands of the instruction that computes the value, returns the one that is
  /// computed first and is at least as bad; -1 if there is none.
  int operand(int number, NonFiniteKind bad_kind) const {
    if (producer_[number] < 0) return -1;
    int first_failing = -1;
    for (int input : program_.code[producer_[number]].inputs)
      if (non_finite_kind(values_[input]) >= bad_kind &&
          (first_failing < 0 || producer_[input] < producer_[first_failing]))
        first_failing = input;
    return first_failing;
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

/// A result that is not finite, and the value in which that originates.
struct Cause {
  std::string title;
  NonFiniteKind bad_kind;
  int target, origin;
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
  CauseText(const Model& model, const Program& program, const RecomputedStep& replay,
            const Batch& batch, const std::vector<int64_t>& rows)
      : model_(model), program_(program), recomputed_(replay), batch_(batch), rows_(rows) {}

  std::string text_of(const Cause& cause, int loss) const {
    std::string text = concat(cause.title, " is not finite: ", count_text(value(cause.target)));
    add_origin(text, cause.origin, loss);
    const int infinite_operand = cause.bad_kind == NonFiniteKind::nan
                                     ? recomputed_.operand(cause.origin, NonFiniteKind::infinite)
                                     : -1;
    if (infinite_operand < 0) return text;
    text += "\n  What is infinite there:";
    add_origin(text, recomputed_.origin_of(infinite_operand, NonFiniteKind::infinite), loss);
    return text;
  }

 private:
  const Tensor& value(int number) const { return recomputed_.value(number); }
  void add(std::string& text, const std::string& line) const {
    if (!line.empty()) text += "\n  " + line;
  }
  void add_origin(std::string& text, int origin, int loss) const {
    const int producer = recomputed_.producer(origin);
    if (producer < 0)
      add(text, text_of_source(origin));
    else
      add_instruction(text, program_.code[producer], producer > recomputed_.producer(loss));
    const int64_t samples = batch_.x.front().dim(0);
    add(text, rows_text(value(origin), samples, rows_));
  }
  /// Describes a value that no instruction computes: a weight, a part of the data or a constant.
  std::string text_of_source(int number) const {
    for (const Program::Binding& b : program_.variables)
      if (b.value == number)
        return concat("It begins in the weight ", b.variable.path(), ": ",
                      count_text(value(number)));
    const auto position = std::find(program_.inputs.begin(), program_.inputs.end(), number);
    if (position == program_.inputs.end()) return "It begins in a constant";
    const auto index = static_cast<size_t>(position - program_.inputs.begin());
    return concat("It begins in the data, ", part_of_data(index), ": ", count_text(value(number)));
  }
  std::string part_of_data(size_t index) const {
    const size_t x = batch_.x.size(), y = batch_.y.size();
    if (index < x) return x == 1 ? "x" : concat("x[", index + 1, "]");
    if (index < x + y) return y == 1 ? "y" : concat("y[", index - x + 1, "]");
    return "sample_weight";
  }
  void add_instruction(std::string& text, const Program::Instruction& instruction,
                       bool backward) const {
    std::vector<std::string> shapes;
    for (int input : instruction.inputs) shapes.push_back(to_text(program_.values[input].shape));
    const std::string layer_path = path_in_model(program_.scopes[instruction.scope]);
    add(text, concat("It begins in ", layer_path.empty() ? "the step" : layer_path,
                     backward ? " (backward)" : " (forward)", ", op ", instruction.op->label(), " ",
                     join(shapes), " -> ", to_text(value(instruction.outputs[0]).shape()), ": ",
                     count_text(value(instruction.outputs[0]))));
    for (size_t i = 0; i < instruction.inputs.size(); ++i)
      add(text, concat("Input ", i + 1, ": ", range_text(value(instruction.inputs[i]))));
  }
  std::string path_in_model(const std::string& scope) const {
    const std::string prefix = model_.name() + "/";
    return scope.starts_with(prefix) ? scope.substr(prefix.size()) : scope;
  }

  const Model& model_;
  const Program& program_;
  const RecomputedStep& recomputed_;
  const Batch& batch_;
  const std::vector<int64_t>& rows_;
};

/// Among all results that are not finite, returns the one whose cause comes first in the program.
std::optional<Cause> first_cause(const Program& program, const RecomputedStep& replay,
                                 const std::vector<std::string>& titles) {
  std::optional<Cause> earliest_cause;
  for (size_t i = 0; i < titles.size(); ++i) {
    const int target = program.outputs[i];
    const NonFiniteKind bad_kind = non_finite_kind(replay.value(target));
    if (bad_kind == NonFiniteKind::none) continue;
    const int origin = replay.origin_of(target, bad_kind);
    if (!earliest_cause || replay.producer(origin) < replay.producer(earliest_cause->origin))
      earliest_cause = Cause{titles[i], bad_kind, target, origin};
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
        step.function.call(inputs, logs, step.key);
        return targets.tensors;
      },
      specs_of(step.inputs));
  const Transaction transaction;  // the destructor restores the variables
  const RecomputedStep replay(program, step.inputs);
  const std::optional<Cause> cause = first_cause(program, replay, targets.titles);
  if (!cause)
    return "the compiled step gave a number that is not finite, the same step op by op does not: "
           "the numbers are near the limits of their dtype";
  return CauseText(model, program, replay, batch, rows).text_of(*cause, program.outputs[0]);
}

}  // namespace crescent

#include "random/check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>
#include <string_view>

#include "compile/passes/passes.h"
#include "crescent/device/lowering.h"
#include "crescent/program/op_types.h"
#include "crescent/program/program.h"
#include "distance.h"
#include "program/picky_device.h"
#include "program/recording/rematerialization.h"
#include "random/draft.h"
#include "random/reference/reference.h"

namespace crescent::random_programs {
namespace {

constexpr int kFirstRepetitions = 2, kMaxRepetitions = 200;
/// The tolerance of a result, as a multiple of the spread that random rounding errors cause in
/// repetitions of the reference. Repetitions round every number independently, while a kernel
/// rounds equal numbers alike, so that their errors add up. Therefore the tolerance is twice as
/// large in the last comparison, after which a result counts as wrong.
constexpr double kToleranceFactor = 6, kMaxToleranceFactor = 12;
/// Rounding may decide which of several nearly equal numbers an op chooses. With at most this many
/// numbers, kMaxRepetitions repetitions choose each of them at least once.
constexpr size_t kMaxCandidates = 8;
/// The number of nodes up to which the gradients of a program are cheap to check.
constexpr size_t kFewNodes = 8;
/// The fewest elements for which kernels use several threads.
constexpr int64_t kMinElementsForThreads = 16'000;

Program traced(const Recipe& recipe, const Tensors& inputs) {
  TensorSpecs specs;
  for (const Tensor& x : inputs) specs.push_back(x.spec());
  return trace([&](const Tensors& in) { return run(recipe, in); }, specs);
}

/// Whether the program calls functions that are not differentiable everywhere (that have kinks).
bool has_kinks(const Recipe& recipe) {
  static const std::set<std::string> kSmoothFunctions{
      "add",     "subtract", "multiply",  "divide",      "negative",    "square",  "exp",
      "tanh",    "sigmoid",  "softplus",  "sin",         "cos",         "sum",     "mean",
      "prod",    "cumsum",   "cumprod",   "softmax",     "log_softmax", "matmul",  "einsum",
      "conv",    "var",      "logsumexp", "concatenate", "reshape",     "squeeze", "transpose",
      "flip",    "get_item", "slice",     "slice_axis",  "stack",       "tile",    "repeat",
      "gelu",    "silu",     "pad",       "roll",        "expand_dims", "cast",    "broadcast_to",
      "moments", "where",    "take",      "mod",         "logaddexp"};
  return std::any_of(recipe.nodes.begin(), recipe.nodes.end(), [](const Node& node) {
    return !node.function.empty() && kSmoothFunctions.count(node.function) == 0;
  });
}

/// Whether the program calls functions that round numbers to integers, or that return remainders.
bool has_steps(const Recipe& recipe) {
  static const std::set<std::string> kStepFunctions{"floor", "ceil",         "round",
                                                    "trunc", "floor_divide", "mod"};
  return std::any_of(recipe.nodes.begin(), recipe.nodes.end(),
                     [](const Node& node) { return kStepFunctions.count(node.function) != 0; });
}

/// Whether the program calls a function with a body (scan).
bool has_body(const Recipe& recipe) {
  return std::any_of(recipe.nodes.begin(), recipe.nodes.end(),
                     [](const Node& node) { return node.function == "scan"; });
}

/// The derivative of a loss in one direction: computed from the gradients, and by finite
/// differences.
struct Slope {
  double from_gradients = 0, from_differences = 0;
  bool is_smooth = false, agrees = false;
};

/// The error of storing a number in the dtype; 0 for NaN and infinity. Terms of sums may be flushed
/// to 0 if they are too small for a normal number; for sums near 1 this matters only in float16.
double storage_error(double exact, DType dtype) {
  if (!std::isfinite(exact) || !is_floating(dtype)) return 0;
  const double smallest = dtype == DType::float16 ? unit_of(dtype) * 8 : 1024;
  return std::abs(exact) * 2 * unit_of(dtype) + smallest_normal(dtype) * smallest;
}

/// The expected results of a random program, and the tolerance of each number.
class ExpectedResults {
 public:
  ExpectedResults(const Recipe& recipe, const Tensors& inputs) : program_(traced(recipe, inputs)) {
    for (const Tensor& x : inputs) inputs_.push_back(array_of(x));
    exact_results_ = interpret(program_, inputs_, {}, &equalities_);
    for (const Array& output : exact_results_) spread_.emplace_back(output.values.size());
    repeat(kFirstRepetitions);
  }

  const Program& program() const { return program_; }

  /// Describes the first wrong result; nullopt if there is none. Before a result counts as wrong,
  /// more repetitions are added. Throws Unreliable if rounding decides which of many numbers are
  /// equal.
  std::optional<std::string> compare(const Tensors& got) {
    std::optional<std::string> difference = first_difference(got);
    while (difference && repetitions_ < kMaxRepetitions) {
      repeat(std::min(4 * repetitions_, kMaxRepetitions));
      difference = first_difference(got);
    }
    if (difference && equalities_.most_by_rounding() > kMaxCandidates)
      throw Unreliable("rounding decides which of many numbers are equal");
    return difference;
  }

  /// Compares the derivative in a direction of the inputs, by finite differences, with the
  /// gradients.
  std::optional<std::string> compare_slopes(const Recipe& recipe, const Tensors& inputs) const;

 private:
  void repeat(int count) {
    for (; repetitions_ < count; ++repetitions_) {
      const std::vector<Array> perturbed = interpret(
          program_, inputs_, Rounding(static_cast<uint64_t>(repetitions_ + 1)), &equalities_);
      for (size_t o = 0; o < exact_results_.size(); ++o) {
        for (size_t i = 0; i < spread_[o].size(); ++i)
          spread_[o][i] = std::max(spread_[o][i], absolute_difference(perturbed[o].values[i],
                                                                      exact_results_[o].values[i]));
      }
    }
  }

  std::optional<std::string> first_difference(const Tensors& got) const {
    if (got.size() != exact_results_.size()) return "another number of results";
    for (size_t o = 0; o < got.size(); ++o) {
      const Array& exact_result = exact_results_[o];
      const DType dtype = exact_result.spec.dtype;
      if (!(got[o].spec() == exact_result.spec))
        return concat("result ", o, ": ", got[o].spec(), " for ", exact_result.spec);
      const std::vector<double> values = got[o].to_vector();
      for (size_t i = 0; i < values.size(); ++i) {
        if (absolute_difference(values[i], exact_result.values[i]) == 0) continue;
        // Opposite infinities have the sum NaN, and whether they are added depends on the order of
        // the terms.
        if (std::isinf(exact_result.values[i]) && std::isnan(values[i])) continue;
        if (std::isnan(exact_result.values[i]) && std::isinf(values[i])) continue;
        const double factor =
            repetitions_ == kMaxRepetitions ? kMaxToleranceFactor : kToleranceFactor;
        const double tolerance =
            factor * spread_[o][i] + storage_error(exact_result.values[i], dtype);
        if (absolute_difference(values[i], exact_result.values[i]) <= tolerance) continue;
        std::ostringstream text;
        text.precision(9);
        text << "result " << o << " " << to_text(exact_result.spec) << ", element " << i << ": "
             << values[i] << " for " << exact_result.values[i] << ", may be off by " << tolerance;
        return text.str();
      }
    }
    return std::nullopt;
  }

  Program program_;
  std::vector<Array> inputs_, exact_results_;
  std::vector<std::vector<double>> spread_;
  Equalities equalities_;
  int repetitions_ = 0;
};

std::optional<std::string> ExpectedResults::compare_slopes(const Recipe& recipe,
                                                           const Tensors& inputs) const {
  Recipe forward_recipe = recipe;
  forward_recipe.has_gradients = false;
  const size_t output_count = recipe.outputs.size(), input_count = recipe.inputs().size();
  if (!recipe.has_gradients || exact_results_.size() == output_count) return std::nullopt;
  const Program program =
      traced(forward_recipe,
             Tensors(inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(input_count)));
  // If several functions have kinks at the same point, their composition may have none, and
  // gradients cannot show that. So the inputs are shifted, each by different amounts, because equal
  // numbers would still coincide.
  std::vector<Array> shifted_inputs = inputs_;
  const bool is_shifted =
      has_kinks(recipe) && (recipe.nodes.size() > input_count + 1 || has_body(recipe));
  for (size_t k = 0; k < input_count && is_shifted; ++k)
    for (size_t i = 0;
         i < shifted_inputs[k].values.size() && is_floating(shifted_inputs[k].spec.dtype); ++i)
      shifted_inputs[k].values[i] +=
          0.01 * std::sin(static_cast<double>(i) * 3.3 + 1 + 0.7 * static_cast<double>(k));
  const std::vector<Array> exact_results = interpret(program_, shifted_inputs);
  const auto direction_of = [](size_t input, size_t i, double angle) {
    return std::cos(static_cast<double>(i) * (7.1 + angle) + static_cast<double>(input));
  };
  // The loss sum(outputs . upstreams), with the inputs shifted by `step` in the direction `angle`.
  const auto loss = [&](double step, double angle) {
    std::vector<Array> moved_inputs = shifted_inputs;
    for (size_t k = 0; k < input_count; ++k)
      for (size_t i = 0;
           i < moved_inputs[k].values.size() && is_floating(moved_inputs[k].spec.dtype); ++i)
        moved_inputs[k].values[i] += step * direction_of(k, i, angle);
    moved_inputs.resize(input_count);
    const std::vector<Array> results = interpret(program, moved_inputs);
    double sum = 0;
    size_t upstream_index = input_count;
    for (size_t o = 0; o < output_count; ++o) {
      if (!is_floating(results[o].spec.dtype)) continue;
      const Array& weights = shifted_inputs[upstream_index++];
      for (size_t i = 0; i < weights.values.size(); ++i)
        sum += weights.values[i] * results[o].values[i];
    }
    return sum;
  };
  const double loss_at_center = loss(0, 0);
  const bool has_jumps = has_steps(recipe);
  const auto slope_in_direction = [&](double angle) {
    Slope slope;
    double magnitude = 0;
    size_t gradient_index = output_count;
    for (size_t k = 0; k < input_count; ++k) {
      if (!is_floating(inputs_[k].spec.dtype)) continue;
      const Array& input_gradient = exact_results[gradient_index++];
      for (size_t i = 0; i < input_gradient.values.size(); ++i) {
        const double term = input_gradient.values[i] * direction_of(k, i, angle);
        slope.from_gradients += term, magnitude += std::abs(term);
      }
    }
    constexpr double kStep = 1e-5;
    const double loss_ahead = loss(kStep, angle), loss_behind = loss(-kStep, angle);
    const double forward_slope = (loss_ahead - loss_at_center) / kStep,
                 backward_slope = (loss_at_center - loss_behind) / kStep;
    const double half_step_slope = (loss(kStep / 2, angle) - loss(-kStep / 2, angle)) / kStep;
    const double tolerance = 1e-4 * (1 + magnitude) + 1e-9 * std::abs(loss_at_center) / kStep;
    slope.from_differences = (loss_ahead - loss_behind) / (2 * kStep);
    // A finite difference that spans many steps of a function hides them: floor of large numbers
    // seems to have the slope of its argument although its derivative is 0, and a remainder seems
    // to be flat although its derivative is large.
    const bool hides_steps =
        has_jumps &&
        std::max(std::abs(slope.from_differences), std::abs(slope.from_gradients)) * kStep > 1;
    slope.is_smooth = !hides_steps &&
                      std::abs(slope.from_differences - half_step_slope) < tolerance / 4 &&
                      std::abs(forward_slope - backward_slope) < tolerance;
    slope.agrees = !std::isfinite(slope.from_gradients) ||
                   std::abs(slope.from_differences - slope.from_gradients) <= tolerance;
    return slope;
  };
  const Slope slope = slope_in_direction(0);
  if (!slope.is_smooth || slope.agrees) return std::nullopt;
  // In one direction the effects of several kinks may cancel each other; in several directions that
  // is unlikely.
  for (double angle : {0.9, 2.3, 4.1, 5.7})
    if (!slope_in_direction(angle).is_smooth) return std::nullopt;
  return concat("a slope of ", slope.from_gradients, " where differences give ",
                slope.from_differences);
}

/// A program in which some inputs are replaced by variables.
struct ProgramWithVariables {
  ProgramWithVariables(const Recipe& recipe, const Tensors& inputs) {
    const std::vector<int> input_indices = recipe.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_variable = i < input_indices.size() &&
                               recipe.nodes[static_cast<size_t>(input_indices[i])].is_variable;
      variables.push_back(is_variable ? Variable(inputs[i]) : Variable());
    }
  }
  Tensors inputs_without_variables(const Tensors& inputs) const {
    Tensors results;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!variables[i]) results.push_back(inputs[i]);
    return results;
  }
  Tensors all_inputs(const Tensors& inputs_without_variables) const {
    Tensors inputs;
    size_t next_input = 0;
    for (const Variable& variable : variables)
      inputs.push_back(variable ? variable.value() : inputs_without_variables[next_input++]);
    return inputs;
  }
  void assign(const Tensors& inputs) const {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (variables[i]) variables[i].assign(inputs[i]);
  }
  Variables variables;
};

Tensors outputs_of(const Program& program) {
  Tensors outputs;
  for (int value : program.outputs)
    outputs.push_back(Tensor::uninitialized(program.values[static_cast<size_t>(value)]));
  return outputs;
}

Tensors run_program(const Program& program, const Tensors& inputs) {
  Tensors outputs = outputs_of(program);
  // Fills the memory of the results with a byte pattern, so that elements that are not written are
  // noticed.
  for (Tensor& output : outputs)
    std::fill_n(static_cast<unsigned char*>(output.mutable_raw()), output.bytes(), 0x7f);
  std::vector<Tensor> no_variables;
  compile(program)->run(inputs, no_variables, outputs);
  return outputs;
}

PickyDevice draw_device(Choices& choices) {
  const size_t salt = static_cast<size_t>(choices.below(1 << 16)),
               unsupported_share = static_cast<size_t>(choices.below(5));
  const auto random_bool = [&] { return choices.one_in(2); };
  const Capabilities capabilities{random_bool(), random_bool(), random_bool(), random_bool(),
                                  random_bool()};
  // A scan is identified by its name, because lowering changes its body and thereby its hash.
  const auto hash_of = [](const Op& op) {
    return op.name() == Scan::kName ? std::hash<std::string_view>()(op.name()) : op.hash();
  };
  return PickyDevice(
      [=](const Op& op) { return (hash_of(op) ^ salt) * 2654435761u % 4 < unsupported_share; },
      capabilities);
}

bool is_large(const Recipe& recipe) {
  return std::any_of(recipe.nodes.begin(), recipe.nodes.end(), [](const Node& node) {
    return node.spec.shape.size() >= kMinElementsForThreads || node.function.find("conv") == 0;
  });
}

/// Runs a random program in every way (compiled, op by op, ...) and compares the results with the
/// expected ones. The first way that gives a wrong result is reported.
class RecipeChecker {
 public:
  RecipeChecker(const Recipe& recipe, uint64_t variant)
      : recipe_(recipe),
        choices_(variant),
        inputs_(draw_inputs(recipe, 0)),
        expected_(recipe, inputs_) {}

  Outcome run_all() {
    check_compiled();
    check_threads();
    check_eager();
    check_other_identities();
    check_unoptimized();
    check_with_variables();
    check_lowered();
    check_rematerialized();
    check_in_chunks();
    check_slopes();
    return outcome_;
  }

 private:
  void check_way(const char* way, const std::function<Tensors()>& results) {
    if (outcome_.difference) return;
    try {
      if (auto wrong_result = expected_.compare(results()))
        outcome_.difference = Difference{way, *wrong_result};
    } catch (const Error& e) {
      outcome_.difference = Difference{way, concat("an error: ", e.what())};
    }
  }

  void check_compiled() {
    check_way("compiled", [&] { return run_program(optimize(expected_.program()), inputs_); });
  }
  void check_threads() {
    if (!is_large(recipe_)) return;
    set_device("cpu", {{"threads", 3}});
    check_way("compiled, for three threads",
              [&] { return run_program(optimize(expected_.program()), inputs_); });
    set_device("cpu", {{"threads", 1}});
  }
  void check_eager() {
    if (choices_.one_in(2)) return;
    check_way("op by op", [&] { return run(recipe_, inputs_); });
  }
  void check_other_identities() {
    if (!choices_.one_in(3) || outcome_.difference) return;
    const Recipe other_recipe = rewritten(recipe_, choices_);
    check_way("written another way",
              [&] { return run_program(optimize(traced(other_recipe, inputs_)), inputs_); });
    if (outcome_.difference) outcome_.rewritten_recipe = other_recipe;
  }
  void check_unoptimized() {
    if (!choices_.one_in(8)) return;
    check_way("compiled as recorded", [&] { return run_program(expected_.program(), inputs_); });
  }
  /// Runs the program twice and changes the variables in between: cached values that depend on them
  /// must be computed again.
  void check_with_variables() {
    if (!choices_.one_in(4)) return;
    OptimizeOptions options;
    options.inference = choices_.one_in(2);
    const ProgramWithVariables variables(recipe_, inputs_);
    const Function function(
        [&](const Tensors& inputs_without_variables) {
          return run(recipe_, variables.all_inputs(inputs_without_variables));
        },
        options);
    const auto call = [&](const Tensors& inputs) {
      return function(variables.inputs_without_variables(inputs));
    };
    check_way("with variables", [&] { return call(inputs_); });
    const Tensors other_inputs = draw_inputs(recipe_, 1);
    variables.assign(other_inputs);
    try {
      ExpectedResults other_expected(recipe_, other_inputs);
      if (auto wrong_result = other_expected.compare(call(other_inputs));
          wrong_result && !outcome_.difference)
        outcome_.difference = Difference{"with other values of variables", *wrong_result};
    } catch (const Unreliable&) {
    }
    variables.assign(inputs_);
    check_way("with values of variables as before", [&] { return call(inputs_); });
  }
  void check_lowered() {
    if (!choices_.one_in(8)) return;
    const PickyDevice device = draw_device(choices_);
    check_way("lowered for a device of few kernels", [&] {
      return run_program(lower(optimize(expected_.program(), {.device = &device}), device),
                         inputs_);
    });
  }
  /// Runs the program with rematerialization. All instructions from a random one on count as the
  /// backward pass, which computes earlier values again, except at random cuts. 16-bit floats are
  /// left out: a recomputed value may be rounded differently from the original, and then terms do
  /// not cancel that cancel in the reference.
  void check_rematerialized() {
    if (!choices_.one_in(4) || has_16_bit_floats()) return;
    const auto instruction_count = static_cast<int64_t>(expected_.program().code.size());
    const auto first_backward_instruction =
        static_cast<size_t>(choices_.below(instruction_count + 1));
    std::vector<size_t> cuts;
    for (size_t i = 1; i < first_backward_instruction; ++i)
      if (choices_.one_in(3)) cuts.push_back(i);
    check_way("with values computed again", [&] {
      return run_program(
          optimize(crescent::rematerialized(expected_.program(), first_backward_instruction, cuts)),
          inputs_);
    });
  }
  void check_in_chunks() {
    Program program = expected_.program();
    const int64_t max_chunk_bytes = int64_t{64} << choices_.below(8);
    if (!passes::chunked_losses(program, max_chunk_bytes)) return;
    check_way("with losses in chunks", [&] { return run_program(optimize(program), inputs_); });
  }
  void check_slopes() {
    const bool is_short = recipe_.nodes.size() <= kFewNodes;
    if (!(choices_.one_in(4) || is_short) || outcome_.difference ||
        recipe_.calls("stop_gradient") || has_16_bit_floats())
      return;
    if (auto wrong_result = expected_.compare_slopes(recipe_, inputs_))
      outcome_.difference = Difference{"gradients as recorded", *wrong_result};
  }

  /// Whether the program has float16 or bfloat16 values. If so, constants in its gradients are
  /// rounded.
  bool has_16_bit_floats() const {
    return std::any_of(recipe_.nodes.begin(), recipe_.nodes.end(), [](const Node& node) {
      return is_floating(node.spec.dtype) && size_of(node.spec.dtype) == 2;
    });
  }

  const Recipe& recipe_;
  Choices choices_;
  Tensors inputs_;
  ExpectedResults expected_;
  Outcome outcome_;
};

}  // namespace

Outcome check(const Recipe& recipe, uint64_t variant) {
  Outcome outcome;
  if (recipe.outputs.empty()) {
    outcome.is_skipped = true;
    return outcome;
  }
  try {
    return RecipeChecker(recipe, variant).run_all();
  } catch (const Unreliable&) {
    outcome.is_skipped = true;
  } catch (const Error& e) {
    outcome.difference = Difference{"recorded", concat("an error: ", e.what())};
  }
  return outcome;
}

Outcome check(const std::vector<uint32_t>& recorded_choices, uint64_t variant) {
  Choices choices(recorded_choices);
  return check(draw_recipe(choices), variant);
}

}  // namespace crescent::random_programs

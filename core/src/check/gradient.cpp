// check_gradient: compares gradients of the tape with central differences.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "check/checked_layer.h"
#include "crescent/program/gradient.h"

namespace crescent {
namespace {

using Values = std::vector<double>;

/// The rounding unit of a dtype, and the step and the tolerance of finite differences in this
/// dtype.
struct Precision {
  double unit_roundoff, step, tolerance;
};

Precision precision_of(bool uses_doubles, const GradientCheckOptions& checks) {
  Precision precision =
      uses_doubles ? Precision{2.3e-16, 1e-5, 1e-5} : Precision{1.2e-7, 1e-2, 2e-2};
  if (checks.step > 0) precision.step = checks.step;
  if (checks.tolerance > 0) precision.tolerance = checks.tolerance;
  return precision;
}

/// An input or a variable of f, with respect to which f is differentiated.
struct Source {
  std::string name;
  Tensor start_value;
  /// The outputs of f when this input or variable has the given value.
  std::function<Tensors(const Tensor&)> outputs_at;
};

/// A scalar function of the outputs: their weighted sum, with random weights drawn once, so that no
/// derivative vanishes by symmetry. It is summed in double.
class Objective {
 public:
  explicit Objective(const Tensors& outputs, int64_t seed) {
    const SeedGenerator random(seed);
    for (const Tensor& y : outputs) {
      const bool has_gradient = is_floating(y.dtype());
      factors_.push_back(has_gradient ? random.normal(y.shape(), 0, 1, y.dtype()) : Tensor());
    }
  }
  const Tensors& factors() const { return factors_; }
  /// Returns the value of the objective, and the sum of the absolute values of its terms, which
  /// bounds the rounding error.
  std::pair<double, double> operator()(const Tensors& outputs) const {
    double sum = 0, magnitude_sum = 0;
    for (size_t i = 0; i < outputs.size() && i < factors_.size(); ++i) {
      if (!factors_[i]) continue;
      const Values y = outputs[i].to_vector(), w = factors_[i].to_vector();
      for (size_t k = 0; k < y.size() && k < w.size(); ++k)
        sum += y[k] * w[k], magnitude_sum += std::abs(y[k] * w[k]);
    }
    return {sum, magnitude_sum};
  }

 private:
  Tensors factors_;
};

/// Numeric derivatives of the objective along a direction: the central difference, the one-sided
/// differences below and above, and a bound of their rounding errors.
struct Slopes {
  double central, below, above, rounding;
};

class Differences {
 public:
  Differences(const Source& source, const Objective& objective, const Precision& precision)
      : source_(source), objective_(objective), precision_(precision) {
    std::tie(value_at_start_, magnitude_sum_) = objective(source.outputs_at(source.start_value));
  }
  Slopes slopes_along(const Values& direction, double scale = 1) const {
    const double step = precision_.step * scale;
    const double value_above = value_at(direction, step), value_below = value_at(direction, -step);
    return {(value_above - value_below) / (2 * step), (value_at_start_ - value_below) / step,
            (value_above - value_at_start_) / step,
            8 * precision_.unit_roundoff * magnitude_sum_ / step};
  }

 private:
  double value_at(const Values& direction, double step) const {
    Values moved_point = source_.start_value.to_vector();
    for (size_t i = 0; i < moved_point.size(); ++i) moved_point[i] += step * direction[i];
    const Tensor value = Tensor::from(moved_point, source_.start_value.shape());
    return objective_(source_.outputs_at(ops::cast(value, source_.start_value.dtype()))).first;
  }

  const Source& source_;
  const Objective& objective_;
  Precision precision_;
  double value_at_start_ = 0, magnitude_sum_ = 0;
};

/// A direction and its name for messages.
struct NamedDirection {
  std::string name;
  Values values;
};

std::string index_text(const Shape& shape, size_t flat_index) {
  std::vector<std::string> indices(static_cast<size_t>(shape.rank()));
  for (int axis = shape.rank(); axis-- > 0;) {
    const auto size = static_cast<size_t>(shape[axis]);
    indices[static_cast<size_t>(axis)] = std::to_string(flat_index % size + 1);
    flat_index /= size;
  }
  return "{" + join(indices) + "}";
}

/// Directions along single elements, followed by random directions of length 1.
std::vector<NamedDirection> directions_for(const Tensor& start_value,
                                           const GradientCheckOptions& checks) {
  std::mt19937_64 random(static_cast<uint64_t>(checks.seed));
  const auto size = static_cast<size_t>(start_value.size());
  std::vector<size_t> indices(size);
  std::iota(indices.begin(), indices.end(), 0);
  std::shuffle(indices.begin(), indices.end(), random);
  indices.resize(std::min(size, static_cast<size_t>(std::max<int64_t>(checks.elements, 0))));
  std::vector<NamedDirection> directions;
  for (const size_t index : indices) {
    directions.push_back({"element " + index_text(start_value.shape(), index), Values(size)});
    directions.back().values[index] = 1;
  }
  std::normal_distribution<double> normal;
  for (int64_t i = 0; size > 1 && i < checks.directions; ++i) {
    Values values(size);
    for (double& value : values) value = normal(random);
    const double length =
        std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
    for (double& value : values) value /= length;
    directions.push_back({concat("random direction ", i + 1), std::move(values)});
  }
  return directions;
}

/// Whether the objective has a kink at this point: the one-sided differences differ, and still do
/// with a step ten times smaller.
bool is_kink(const Differences& differences, const NamedDirection& direction, const Slopes& slopes,
             double allowed_error) {
  const double slope_difference = std::abs(slopes.above - slopes.below);
  if (slope_difference <= allowed_error + slopes.rounding) return false;
  const Slopes slopes_at_smaller_step = differences.slopes_along(direction.values, 0.1);
  return std::abs(slopes_at_smaller_step.above - slopes_at_smaller_step.below) >
         0.5 * slope_difference + slopes_at_smaller_step.rounding;
}

/// Compares the gradient with respect to one Source with finite differences.
class Comparison {
 public:
  Comparison(const Tensor& gradient, double tolerance)
      : gradient_(gradient.to_vector()), tolerance_(tolerance) {
    for (size_t i = 0; i < gradient_.size(); ++i) {
      check::expect(std::isfinite(gradient_[i]), "the gradient has an element that is ",
                    gradient_[i], ", at ", index_text(gradient.shape(), i));
      largest_value_ = std::max(largest_value_, std::abs(gradient_[i]));
    }
  }
  void compare(const Differences& differences, const NamedDirection& direction) {
    const double derivative =
        std::inner_product(gradient_.begin(), gradient_.end(), direction.values.begin(), 0.0);
    const Slopes slopes = differences.slopes_along(direction.values);
    const double scale = std::max({largest_value_, std::abs(slopes.central), 1e-12}),
                 allowed_error = tolerance_ * scale;
    const double error = std::abs(derivative - slopes.central);
    ++compared_count_;
    if (error <= allowed_error + slopes.rounding) {
      largest_error_ = std::max(largest_error_, error / scale);
      return;
    }
    const Slopes slopes_at_smaller_step =
        differences.slopes_along(direction.values, 0.1);  // a kink may be beside the point
    if (std::abs(derivative - slopes_at_smaller_step.central) <=
        allowed_error + slopes_at_smaller_step.rounding)
      return;
    const auto [low, high] = std::minmax(slopes.below, slopes.above);
    const bool is_between = derivative >= low - allowed_error && derivative <= high + allowed_error;
    if (is_kink(differences, direction, slopes, allowed_error) && is_between)
      return note_kink(direction, slopes, derivative);
    check::report_mistake("by ", direction.name, " the gradient is ", rounded(derivative),
                          ", differences give ", rounded(slopes.central));
  }
  std::string summary() const {
    return concat(compared_count_, " derivatives, largest difference ", rounded(largest_error_),
                  kink_count_ ? concat("; ", kink_count_, " at a kink: by ", first_kink_) : "");
  }

 private:
  static double rounded(double x) { return std::stod(text_of(x)); }
  static std::string text_of(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", x);
    return text;
  }
  void note_kink(const NamedDirection& direction, const Slopes& slopes, double derivative) {
    if (kink_count_++ > 0) return;
    first_kink_ = concat(direction.name, " there are slopes of ", rounded(slopes.below), " and ",
                         rounded(slopes.above), ", the gradient is ", rounded(derivative));
  }

  Values gradient_;
  double tolerance_, largest_value_ = 0, largest_error_ = 0;
  int compared_count_ = 0;
  int kink_count_ = 0;
  std::string first_kink_;  ///< description of the first kink
};

/// Changes a variable temporarily; the destructor restores it.
class TemporaryChange {
 public:
  explicit TemporaryChange(const Variable& variable)
      : variable_(variable), start_values_(variable.value().clone()) {}
  ~TemporaryChange() { variable_.assign(start_values_); }
  TemporaryChange(const TemporaryChange&) = delete;

 private:
  Variable variable_;
  Tensor start_values_;
};

/// Fails if a result is not finite, because then every difference of the objective would be NaN or
/// infinite, even for inputs that do not influence that result.
void expect_finite(const Tensors& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (!is_floating(results[i].dtype())) continue;
    const Values values = results[i].to_vector();
    for (size_t k = 0; k < values.size(); ++k)
      check::expect(std::isfinite(values[k]), "result ", i + 1, " is ", values[k], " at ",
                    index_text(results[i].shape(), k), ": it has no differences");
  }
}

class GradientCheck {
 public:
  using F = std::function<Tensors(const Tensors&)>;
  GradientCheck(const F& f, const Tensors& inputs, const Variables& variables,
                const GradientCheckOptions& checks)
      : f_(f), inputs_(inputs), variables_(variables), checks_(checks) {
    // A tensor that is given twice becomes two inputs; f is differentiated with respect to each of
    // them.
    for (Tensor& input : inputs_)
      if (input) input = input.alias();
  }

  CheckReport run() {
    report_.subject = "gradient";
    check::add_result(report_, "results", [&] { return check_results(); });
    if (!report_.ok()) return std::move(report_);
    compute_gradients();
    if (!report_.ok()) return std::move(report_);
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (is_floating(inputs_[i].dtype())) check_input(i);
    for (size_t i = 0; i < variables_.size(); ++i) check_variable(i);
    return std::move(report_);
  }

 private:
  std::string check_results() {
    outputs_ = f_(inputs_);
    bool has_floating_result = false;
    for (const Tensor& y : outputs_) {
      check::expect(bool(y), "a result is no tensor");
      has_floating_result = has_floating_result || is_floating(y.dtype());
    }
    check::expect(has_floating_result, "no result is a tensor of floating-point numbers");
    expect_finite(outputs_);
    check::expect(check::have_same_bits(outputs_, f_(inputs_)),
                  "called twice on the same inputs it gives different results: random numbers and "
                  "state have to be the same each time");
    return concat(outputs_.size(), outputs_.size() == 1 ? " tensor" : " tensors",
                  ", the same bits when it is called again");
  }

  void compute_gradients() {
    check::add_result(report_, "tape", [&] {
      const Objective objective(outputs_, checks_.seed);
      GradientTape tape;
      for (const Tensor& x : inputs_)
        if (is_floating(x.dtype())) tape.watch(x);
      const Tensors outputs = f_(inputs_);
      tape.stop();
      input_gradients_ = tape.gradient(outputs, inputs_, objective.factors());
      for (const Variable& v : variables_)
        variable_gradients_.push_back(gradient_of(tape, outputs, v));
      return std::string("the gradient was taken");
    });
  }

  Tensor gradient_of(GradientTape& tape, const Tensors& outputs, const Variable& v) const {
    const Objective objective(outputs_, checks_.seed);
    Tensor sum;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!objective.factors()[i]) continue;
      const Tensor output_gradient =
          tape.gradient(outputs[i], {&v, 1}, objective.factors()[i]).front();
      if (output_gradient) sum = sum ? sum + output_gradient : output_gradient;
    }
    return sum;
  }

  void check_input(size_t i) {
    Source source{concat("input ", i + 1), inputs_[i], [this, i](const Tensor& value) {
                    Tensors moved_inputs = inputs_;
                    moved_inputs[i] = value;
                    return f_(moved_inputs);
                  }};
    check_source(source, input_gradients_[i]);
  }

  void check_variable(size_t i) {
    const Variable& variable = variables_[i];
    const TemporaryChange temporary_change(variable);
    Source source{variable.path(), variable.value().clone(), [&](const Tensor& value) {
                    variable.assign(value);
                    return f_(inputs_);
                  }};
    check_source(source, variable_gradients_[i]);
  }

  void check_source(const Source& source, const Tensor& gradient) {
    check::add_result(report_, "by " + source.name, [&] {
      const bool uses_doubles =
          source.start_value.dtype() == DType::float64 && results_are_doubles();
      const Precision precision = precision_of(uses_doubles, checks_);
      const Objective objective(outputs_, checks_.seed);
      const Differences differences(source, objective, precision);
      Comparison comparison(gradient ? gradient : ops::zeros_like(source.start_value),
                            precision.tolerance);
      try {
        for (const NamedDirection& direction : directions_for(source.start_value, checks_))
          comparison.compare(differences, direction);
      } catch (check::FoundMistake& mistake) {
        if (!gradient)
          mistake.message += "; there is no gradient: nothing leads from the results to it";
        throw;
      }
      return comparison.summary() + (gradient ? "" : "; the results do not depend on it");
    });
  }

  bool results_are_doubles() const {
    return std::all_of(outputs_.begin(), outputs_.end(), [](const Tensor& y) {
      return !is_floating(y.dtype()) || y.dtype() == DType::float64;
    });
  }

  const F& f_;
  Tensors inputs_;
  Variables variables_;
  GradientCheckOptions checks_;
  CheckReport report_;
  Tensors outputs_, input_gradients_, variable_gradients_;
};

}  // namespace

CheckReport check_gradient(const std::function<Tensors(const Tensors&)>& f, const Tensors& inputs,
                           const Variables& variables, const GradientCheckOptions& checks) {
  const InterruptScope interrupt_scope;
  return GradientCheck(f, inputs, variables, checks).run();
}

}  // namespace crescent

// Activation functions that have options: cr.activations.leaky_relu(x, 0.1),
// cr.layers.Dense(8, { activation = cr.activations.leaky_relu { negative_slope = 0.1 } }).
#include "../elementwise.h"
#include "crescent/layer/activation.h"
#include "crescent/layer/operation.h"
#include "crescent/ops/activations.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

using namespace ops;

/// The base of activations with options. As in Keras, a configuration contains only options that
/// differ from their defaults, so most activations are saved as a name only.
class ActivationWithOptions : public Activation {
 public:
  Dict get_config() const override {
    Dict config;
    const Dict options = Activation::get_config();
    for (const Field& field : info()->schema.fields)
      if (!(options.at(field.name) == field.default_value))
        config.set(field.name, options.at(field.name));
    return config;
  }
};

class Relu final : public ActivationWithOptions {
 public:
  static void describe(Schema<Relu>& s) {
    s.doc("max(x, 0); with a threshold, x above it and negative_slope * (x - threshold) below.")
        .trait(kElementwise, true)
        .field("negative_slope", &Relu::slope_, "Slope below the threshold.")
        .min(0)
        .field("max_value", &Relu::max_value_, "Upper limit.")
        .min(0)
        .field("threshold", &Relu::threshold_,
               "Values above it pass, others are multiplied by negative_slope.");
  }
  Tensor operator()(const Tensor& x) const override {
    if (threshold_ == 0 && !max_value_) return slope_ == 0 ? relu(x) : leaky_relu(x, slope_);
    const Tensor y = apply_threshold(x);
    return slope_ == 0 ? y : y - relu(threshold_ - x) * slope_;
  }

 private:
  /// Returns x where it is above the threshold and 0 elsewhere, at most max_value_. As in Keras,
  /// the gradient at x = max_value_ is 0 only if max_value_ is 6.
  Tensor apply_threshold(const Tensor& x) const {
    if (threshold_ == 0 && max_value_ == 6.0) return hard_tanh(x, 0, 6);
    const Tensor y = threshold_ == 0 ? relu(x) : where(greater(x, threshold_), x, 0);
    if (!max_value_) return y;
    return threshold_ < 0 ? clip(y, 0, *max_value_) : minimum(y, *max_value_);
  }

  double slope_ = 0, threshold_ = 0;
  std::optional<double> max_value_;
};

class Threshold final : public ActivationWithOptions {
 public:
  static void describe(Schema<Threshold>& s) {
    s.doc("x where x > threshold, else default_value.")
        .trait(kElementwise, true)
        .field("threshold", &Threshold::threshold_, "The value that x must exceed.")
        .field("default_value", &Threshold::default_value_,
               "Value of elements that do not exceed the threshold.");
  }
  Tensor operator()(const Tensor& x) const override {
    return where(greater(x, threshold_), x, default_value_);
  }

 private:
  double threshold_ = 0, default_value_ = 0;
};

class Gelu final : public ActivationWithOptions {
 public:
  static void describe(Schema<Gelu>& s) {
    s.doc("x * P(X <= x) for a standard normal X.")
        .trait(kElementwise, true)
        .field("approximate", &Gelu::approximate_, "Approximate by tanh instead of erf.");
  }
  Tensor operator()(const Tensor& x) const override { return gelu(x, approximate_); }

 private:
  bool approximate_ = false;
};

// ---- functions with one numeric option

struct NumericActivationRow {
  const char *name, *doc, *option, *option_doc;
  double initial_value;
  Tensor (*apply)(const Tensor& x, double number);
};

const NumericActivationRow kNumberRows[] = {
    {"leaky_relu", "x for x > 0, else negative_slope * x.", "negative_slope",
     "Slope for negative x.", 0.2,
     [](const Tensor& x, double slope) { return leaky_relu(x, slope); }},
    {"elu", "Exponential linear unit: x for x > 0, else alpha * (exp(x) - 1).", "alpha",
     "Limit for negative x, which is -alpha.", 1,
     [](const Tensor& x, double alpha) { return elu(x, alpha); }},
    {"celu", "max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)", "alpha",
     "Limit for negative x, which is -alpha.", 1,
     [](const Tensor& x, double alpha) {
       if (alpha == 1) return relu(x) + expm1(minimum(x, 0));
       return relu(x) + alpha * expm1(minimum(x, 0) / alpha);
     }},
    {"hard_shrink", "x where |x| > threshold, else 0.", "threshold",
     "Values of at most this magnitude become 0.", 0.5,
     [](const Tensor& x, double threshold_value) {
       return where(greater(abs(x), threshold_value), x, 0);
     }},
    {"soft_shrink", "x moved towards 0 by the threshold; 0 where |x| is at most the threshold.",
     "threshold", "Distance.", 0.5,
     [](const Tensor& x, double threshold_value) {
       return x - clip(x, -threshold_value, threshold_value);
     }},
    {"squareplus", "(x + sqrt(x^2 + b)) / 2", "b", "Smoothness: the larger, the smoother at 0.", 4,
     [](const Tensor& x, double b) { return (x + sqrt(square(x) + b)) * 0.5; }},
};

/// The activation function that entry `Row` of the table kNumberRows describes.
template <int Row>
class NumericActivation final : public ActivationWithOptions {
 public:
  static void describe(Schema<NumericActivation>& s) {
    s.doc(kNumberRows[Row].doc)
        .trait(kElementwise, true)
        .field(kNumberRows[Row].option, &NumericActivation::option_value_,
               kNumberRows[Row].option_doc);
  }
  Tensor operator()(const Tensor& x) const override {
    return kNumberRows[Row].apply(x, option_value_);
  }

 private:
  double option_value_ = kNumberRows[Row].initial_value;
};

// ---- functions along an axis

/// Sparsemax, the projection of each row onto the simplex, as in Keras 3: the threshold that is
/// subtracted from x is computed from the sum of the cumulative sums over the support, while
/// Martins and Astudillo (2016) compute it from the last cumulative sum.
Tensor sparsemax(const Tensor& input, int axis) {
  const bool is_last = input.shape().axis(axis) == input.rank() - 1;
  const Tensor x = is_last ? input : swap_axes(input, axis, -1);
  const int64_t n = x.dim(-1);
  const Tensor sorted_x = top_k(x, n)[0], cumulative_sums = cumsum(sorted_x, -1);
  const Tensor rank = cast(arange(n), x.dtype()) + 1.0;
  const Tensor is_in_support = greater(sorted_x - (cumulative_sums - 1.0) / rank, 0);
  const Tensor support_size = sum(cast(is_in_support, x.dtype()), {-1}, true);
  const Tensor threshold =
      (sum(where(is_in_support, cumulative_sums, 0), {-1}, true) - 1.0) / support_size;
  const Tensor y = relu(x - threshold);
  return is_last ? y : swap_axes(y, axis, -1);
}

/// Gated linear unit: the first half of x along the axis times the sigmoid of the second half.
Tensor glu(const Tensor& x, int axis) {
  const int64_t half_size = x.dim(axis) / 2;
  if (half_size * 2 != x.dim(axis))
    fail("glu: axis ", axis, " must be even, got shape ", x.shape());
  const Tensors parts = split(x, {half_size, half_size}, axis);
  return parts[0] * sigmoid(parts[1]);
}

using AxisFunction = Tensor (*)(const Tensor& x, int axis);
using AxesFunction = Tensor (*)(const Tensor& x, const Axes& axes);

struct AxisActivationRow {
  const char *name, *doc;
  AxisFunction apply;
  AxesFunction apply_to_axes = nullptr;  ///< null: the function takes one axis only
};

const AxisActivationRow kAxisRows[] = {
    {"softmax", "exp(x) / sum exp(x) over the axis.", static_cast<AxisFunction>(softmax),
     static_cast<AxesFunction>(softmax)},
    {"log_softmax", "log(softmax(x))", static_cast<AxisFunction>(log_softmax),
     static_cast<AxesFunction>(log_softmax)},
    {"sparsemax", "The Euclidean projection of each row onto the probability simplex.", sparsemax},
    {"glu", "The first half of the axis times the sigmoid of the second half.", glu},
};

/// The activation function that entry `Row` of the table kAxisRows describes.
template <int Row>
class AxisActivation final : public ActivationWithOptions {
 public:
  static void describe(Schema<AxisActivation>& s) {
    s.doc(kAxisRows[Row].doc)
        .field("axis", &AxisActivation::axis_,
               kAxisRows[Row].apply_to_axes ? "The axis, or a list of axes." : "The axis.");
  }
  void configured() override {
    axes_ = Codec<AxisList>::decode(axis_);
    if (axes_.size() != 1 && (axes_.empty() || !kAxisRows[Row].apply_to_axes))
      fail("axis: expected ", kAxisRows[Row].apply_to_axes ? "at least " : "", "one axis, got ",
           axis_);
  }
  Tensor operator()(const Tensor& x) const override {
    return axes_.size() == 1 ? kAxisRows[Row].apply(x, axes_.front())
                             : kAxisRows[Row].apply_to_axes(x, axes_);
  }

 private:
  Value axis_ = -1;
  std::vector<int> axes_{-1};
};

template <int... Rows>
void add_numbers(Registry& registry, std::integer_sequence<int, Rows...>) {
  (registry.add<NumericActivation<Rows>>(kNumberRows[Rows].name), ...);
}
template <int... Rows>
void add_axes(Registry& registry, std::integer_sequence<int, Rows...>) {
  (registry.add<AxisActivation<Rows>>(kAxisRows[Rows].name), ...);
}

}  // namespace

CRESCENT_REGISTER(activations_with_options) {
  registry.add<Relu>("relu");
  registry.add<Threshold>("threshold");
  registry.add<Gelu>("gelu");
  add_numbers(registry, std::make_integer_sequence<int, std::size(kNumberRows)>{});
  add_axes(registry, std::make_integer_sequence<int, std::size(kAxisRows)>{});
}

}  // namespace crescent

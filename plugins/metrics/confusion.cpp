#include "confusion.h"

#include <algorithm>
#include <cmath>

namespace crescent {

using namespace ops;

namespace {

/// Whether the thresholds are equidistant from 0 to 1. The first may be below 0 and the last above
/// 1 by an epsilon.
bool are_even(const std::vector<double>& thresholds) {
  const size_t n = thresholds.size();
  for (size_t i = 0; i < n; ++i) {
    const double expected_threshold = double(i) / double(n - 1);
    if (std::abs(thresholds[i] - expected_threshold) > 2 * kEpsilon + 1e-5 * expected_threshold)
      return false;
  }
  return n >= 3;
}

/// Appends axes of size 1 to the weight, or removes one, so that it has as many axes as
/// `ranked_tensor`.
Tensor with_rank_of(const Tensor& ranked_tensor, Tensor weight) {
  while (weight.rank() < ranked_tensor.rank()) weight = expand_dims(weight, -1);
  if (weight.rank() == ranked_tensor.rank() + 1 && weight.dim(-1) == 1)
    weight = squeeze(weight, -1);
  return weight;
}

/// Replaces the values that are not among the k largest of their row by a value below all
/// thresholds.
Tensor keep_top_k(const Tensor& x, int64_t k) {
  const Tensor is_chosen = sum(one_hot(top_k(x, k)[1], x.dim(-1), x.dtype()), {-2});
  return x * is_chosen + kNoThreshold * (1.0 - is_chosen);
}

/// The column of x for one class, (samples, 1).
Tensor class_column(const Tensor& x, int64_t class_id) {
  if (x.rank() < 2)
    fail(
        "When class_id is provided, y_pred must be a 2D array with shape (num_samples, "
        "num_classes), found shape: ",
        x.shape());
  if (class_id < 0 || class_id >= x.dim(-1))
    fail("class_id ", class_id, " is out of range for ", x.dim(-1), " classes");
  return slice_axis(x, -1, class_id, class_id + 1);
}

/// The elements that are counted: predictions (samples) or (samples, labels), and for each
/// prediction its weight as a positive and as a negative.
struct CountedElements {
  Tensor prediction, positive_weight, negative_weight;
};

CountedElements elements_of(const ConfusionOptions& options, const Tensor& y_true,
                            const Tensor& y_pred, const Tensor& sample_weight) {
  Tensor truth = cast(y_true, DType::float32), prediction = cast(y_pred, DType::float32);
  match_ranks(prediction, truth);
  Tensor weight =
      sample_weight ? with_rank_of(truth, cast(sample_weight, DType::float32)) : Tensor();
  if (options.top_k) prediction = keep_top_k(prediction, *options.top_k);
  if (options.class_id) {
    truth = class_column(truth, *options.class_id);
    prediction = class_column(prediction, *options.class_id);
    if (weight && weight.dim(-1) != 1) weight = class_column(weight, *options.class_id);
  }
  if (!truth.shape().compatible(prediction.shape()))
    fail("expected labels and predictions of one shape, got ", y_true.shape(), " and ",
         y_pred.shape());
  const Tensor is_true = cast(not_equal(truth, 0), DType::float32);
  Tensor weights = weight ? broadcast_to(weight, prediction.shape()) : ones_like(prediction);
  if (options.label_weights) weights = weights * options.label_weights;
  CountedElements elements{prediction, is_true * weights, (1.0 - is_true) * weights};
  if (options.multi_label) return elements;
  for (Tensor* x : {&elements.prediction, &elements.positive_weight, &elements.negative_weight})
    *x = reshape(*x, {-1});
  return elements;
}

/// A tensor (thresholds, elements...) that is 1 where a prediction is above a threshold.
Tensor is_above_threshold(const Tensor& prediction, const std::vector<double>& thresholds) {
  const int64_t n = static_cast<int64_t>(thresholds.size());
  const Shape shape = prediction.rank() == 1 ? Shape{n, 1} : Shape{n, 1, 1};
  const Tensor p = expand_dims(prediction, 0);
  if (!are_even(thresholds)) {
    const std::vector<float> values(thresholds.begin(), thresholds.end());
    return cast(greater(p, Tensor::from(values, shape)), DType::float32);
  }
  // As in Keras, predictions are sorted into buckets between equidistant thresholds. If the first
  // threshold is below 0, a prediction of 0 is above this threshold.
  Tensor bucket = ceil(clip(p, 0, 1) * double(n - 1)) - 1.0;
  if (thresholds.front() < 0) bucket = relu(bucket);
  const Tensor bucket_numbers = reshape(arange(n, DType::float32), shape);
  return cast(greater_equal(bucket, bucket_numbers), DType::float32);
}

/// For each threshold, the sum of the weights of the elements that are 1 in `is_selected`
/// (thresholds, elements...).
Tensor weight_sums(const Tensor& is_selected, const Tensor& weights) {
  if (is_selected.rank() == 3) return sum(is_selected * expand_dims(weights, 0), {1});
  return squeeze(matmul(is_selected, expand_dims(weights, 1)), 1);
}

}  // namespace

Tensor divide_no_nan(const Tensor& a, const Tensor& b) {
  const Tensor is_zero = equal(b, 0);
  return where(is_zero, 0, a / where(is_zero, 1, b));
}

void count(const Confusion& state, const ConfusionOptions& options, const Tensor& y_true,
           const Tensor& y_pred, const Tensor& sample_weight) {
  need_predictions(y_pred);
  const CountedElements elements = elements_of(options, y_true, y_pred, sample_weight);
  const Tensor is_positive = is_above_threshold(elements.prediction, options.thresholds),
               is_negative = 1.0 - is_positive;
  auto add_weight_sums = [](const Variable& variable, const Tensor& is_selected,
                            const Tensor& weights) {
    if (variable) variable.assign_add(weight_sums(is_selected, weights));
  };
  add_weight_sums(state.true_positives, is_positive, elements.positive_weight);
  add_weight_sums(state.false_positives, is_positive, elements.negative_weight);
  add_weight_sums(state.true_negatives, is_negative, elements.negative_weight);
  add_weight_sums(state.false_negatives, is_negative, elements.positive_weight);
}

std::vector<double> thresholds_of(const Value& option, double default_threshold) {
  if (option.is_null()) return {default_threshold};
  std::vector<double> thresholds;
  List invalid;
  for (const Value& value : option.is_list() ? option.as_list() : List{option}) {
    const bool fits = value.is_number() && value.as_float() >= 0 && value.as_float() <= 1;
    fits ? thresholds.push_back(value.as_float()) : invalid.push_back(value);
  }
  if (!invalid.empty())
    fail("Threshold values must be in [0, 1]. Received: ", Value(std::move(invalid)));
  if (thresholds.empty()) fail("expected at least one threshold, got none");
  return thresholds;
}

std::vector<double> even_thresholds(int64_t n) {
  std::vector<double> thresholds;
  for (int64_t i = 0; i < n; ++i) thresholds.push_back(double(i) / double(n - 1));
  return thresholds;
}

}  // namespace crescent

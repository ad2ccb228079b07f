// Reduces losses per sample to one number, as Keras 3 does.
#include "crescent/layer/loss.h"
#include "base/text.h"
#include "registry/blame.h"

namespace crescent {
namespace {

using namespace ops;

constexpr double kEpsilon = 1e-7;

bool is_average(const std::string& reduction) {
  return reduction == "sum_over_batch_size" || reduction == "mean";
}

/// The number of elements of x as a tensor, which is also right if the batch size is not known
/// until the traced step runs.
Tensor element_count(const Tensor& x) { return sum(ones_like(x)); }

/// Appends axes of size 1 to `weight` until it broadcasts over the trailing axes of `values`. If
/// `values` is a scalar, as for the loss Dice, `weight` is returned unchanged, so that the product
/// has one value per weight.
Tensor align_left(Tensor weight, const Tensor& values) {
  if (values.rank() == 0) return weight;
  if (weight.rank() == values.rank() + 1 && weight.dim(-1) == 1)
    weight = squeeze(weight, weight.rank() - 1);
  while (weight.rank() < values.rank()) weight = expand_dims(weight, -1);
  if (weight.rank() > values.rank())
    fail("sample_weight of shape ", weight.shape(), " does not fit losses of shape ",
         values.shape());
  return weight;
}

/// Converts a mask to weights. If the reduction is an average, they are scaled so that the mean
/// over all elements becomes the mean over the valid elements.
Tensor mask_weights(const Tensor& mask, const Tensor& values, const std::string& reduction) {
  const Tensor weights = align_left(cast(mask, values.dtype()), values);
  if (!is_average(reduction)) return weights;
  return weights * (element_count(weights) / (sum(weights) + kEpsilon));
}

Tensor combined_mask(const Tensor& a, const Tensor& b) {
  if (!a || !b) return a ? a : b;
  return a.rank() == b.rank() ? logical_and(a, b) : a.rank() > b.rank() ? a : b;
}

Tensor divide_no_nan(const Tensor& a, const Tensor& b) {
  return where(equal(b, 0), zeros_like(a), a / maximum(abs(b), 1e-38) * sign(b));
}

Tensor reduce(const Tensor& values, const Tensor& weights, const std::string& reduction) {
  if (reduction == "none" || values.rank() == 0) return values;
  if (reduction == "sum") return sum(values);
  if (reduction == "mean_with_sample_weight" && weights)
    return divide_no_nan(sum(values), sum(weights));
  return mean(values);
}

}  // namespace

Tensor Loss::operator()(const Tensor& y_true, const Tensor& y_pred,
                        const Tensor& sample_weight) const {
  const DType dtype =
      dtype_.value_or(y_pred.dtype() == DType::float64 ? DType::float64 : DType::float32);
  const Tensor prediction_mask = y_pred.mask();
  const Tensor targets = sparse_targets() ? y_true : cast(y_true, dtype);
  Tensor values = blaming(*this, [&] {
    const Tensor losses = call(targets, cast(y_pred, dtype));
    if (!losses) fail("its call gave no tensor");
    return losses;
  });
  const Tensor mask = combined_mask(prediction_mask, values.mask());
  Tensor weights;
  if (mask) weights = mask_weights(mask, values, reduction_.value_or("none"));
  if (sample_weight) {
    const Tensor sample_weights = align_left(cast(sample_weight, dtype), values);
    weights = weights ? weights * sample_weights : sample_weights;
  }
  if (weights) values = values * weights;
  // Sample weights of shape (batch, 1) give losses of shape (batch, 1).
  if (sample_weight && values.rank() == 1 && sample_weight.rank() == 2)
    values = expand_dims(values, -1);
  return reduce(values, weights, reduction_.value_or("none"));
}

}  // namespace crescent

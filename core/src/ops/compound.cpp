// Softmax, cross entropy, batch and layer normalization. Each op has a decomposition into simpler
// ops and a gradient.
#include "program/support.h"

namespace crescent {
namespace {

std::vector<int> leading_axes(const Shape& shape) {
  std::vector<int> axes;
  for (int i = 0; i + 1 < shape.rank(); ++i) axes.push_back(i);
  return axes;
}

double row_count(const Shape& shape, const std::vector<int>& axes) {
  double count = 1;
  for (int axis : axes) count *= static_cast<double>(std::max<int64_t>(shape[axis], 1));
  return count;
}

Tensor sum_rows(const Tensor& x) {
  const std::vector<int> axes = leading_axes(x.shape());
  return axes.empty() ? x : ops::sum(x, axes);
}

/// Labels as one-hot rows in the shape and dtype of the logits.
Tensor one_hot_like(const Tensor& labels, const Tensor& logits) {
  return ops::one_hot(labels, logits.dim(-1), logits.dtype());
}

void expect_labels(const TensorSpec& logits, const TensorSpec& labels, bool sparse) {
  const char* name = sparse ? "sparse_softmax_cross_entropy" : "softmax_cross_entropy";
  expect_floating(name, logits.dtype);
  expect_rank_at_least(name, logits.shape, 1);
  const Shape expected_shape = sparse ? logits.shape.slice(0, -1) : logits.shape;
  if (!labels.shape.compatible(expected_shape)) {
    fail(name, ": logits ", logits.shape, " need labels of shape ", expected_shape, ", got ",
         labels.shape);
  }
  if (sparse && !is_integer(labels.dtype))
    fail(name, ": expected integer labels, got ", labels.dtype);
  if (!sparse && labels.dtype != logits.dtype)
    fail(name, ": dtypes ", logits.dtype, " and ", labels.dtype, " differ");
}

Tensor as_statistics(const Tensor& x) { return ops::cast(x, statistics_dtype(x.dtype())); }

void expect_channels(std::string_view op, std::span<const TensorSpec> in,
                     std::initializer_list<size_t> channel_inputs) {
  const TensorSpec& x = in[0];
  expect_floating(op, x.dtype);
  expect_rank_at_least(op, x.shape, 1);
  for (size_t i : channel_inputs) {
    if (in[i].dtype != statistics_dtype(x.dtype))
      fail(op, ": dtypes ", x.dtype, " and ", in[i].dtype, " do not fit");
    if (!in[i].shape.compatible({x.shape[-1]})) {
      fail(op, ": shapes ", x.shape, " and ", in[i].shape, " do not fit: expected (",
           x.shape[-1] < 0 ? "None" : to_text(x.shape[-1]), ",)");
    }
  }
}

}  // namespace

TensorSpecs Softmax::infer(std::span<const TensorSpec> in) const {
  const char* name = log ? "log_softmax" : "softmax";
  expect_floating(name, in[0].dtype);
  normal_axis(name, axis, in[0].shape);
  return {in[0]};
}

Tensors Softmax::vjp(const Vjp& v) const {
  const Tensor &y = v.outputs[0], &g = v.gradients[0];
  if (log) return {g - ops::exp(y) * ops::sum(g, {axis}, true)};
  return {y * (g - ops::sum(g * y, {axis}, true))};
}

Tensors Softmax::decompose(std::span<const Tensor> in) const {
  const Tensor shifted_logits = in[0] - ops::stop_gradient(ops::max(in[0], {axis}, true));
  const Tensor exponentials = ops::exp(shifted_logits),
               exponential_sum = ops::sum(exponentials, {axis}, true);
  return {log ? shifted_logits - ops::log(exponential_sum) : exponentials / exponential_sum};
}

TensorSpecs SoftmaxCrossEntropy::infer(std::span<const TensorSpec> in) const {
  expect_labels(in[0], in[1], sparse);
  return {{in[0].dtype, in[0].shape.slice(0, -1)}};
}

Tensors SoftmaxCrossEntropy::vjp(const Vjp& v) const {
  const Tensor &logits = v.inputs[0], &labels = v.inputs[1], &g = v.gradients[0];
  Tensors result(2);
  if (v.wanted[0]) {
    SoftmaxCrossEntropyBackward op;
    op.sparse = sparse;
    result[0] = apply1(op, {logits, labels, g});
  }
  if (v.wanted[1]) result[1] = -(ops::log_softmax(logits) * ops::expand_dims(g, -1));
  return result;
}

Tensors SoftmaxCrossEntropy::decompose(std::span<const Tensor> in) const {
  const Tensor logs = ops::log_softmax(in[0]);
  if (!sparse) return {-ops::sum(in[1] * logs, {-1})};
  return {-ops::squeeze(ops::gather_along_axis(logs, ops::expand_dims(in[1], -1), -1), -1)};
}

TensorSpecs SoftmaxCrossEntropyBackward::infer(std::span<const TensorSpec> in) const {
  expect_labels(in[0], in[1], sparse);
  return {in[0]};
}

Tensors SoftmaxCrossEntropyBackward::decompose(std::span<const Tensor> in) const {
  const Tensor upstream = ops::expand_dims(in[2], -1), p = ops::softmax(in[0]);
  if (sparse) return {(p - one_hot_like(in[1], in[0])) * upstream};
  return {(p * ops::sum(in[1], {-1}, true) - in[1]) * upstream};
}

TensorSpecs BatchMoments::infer(std::span<const TensorSpec> in) const {
  expect_channels(kName, in, {});
  const TensorSpec channel{statistics_dtype(in[0].dtype), {in[0].shape[-1]}};
  return {channel, channel};
}

Tensors BatchMoments::decompose(std::span<const Tensor> in) const {
  const std::vector<int> axes = leading_axes(in[0].shape());
  const Tensor x = as_statistics(in[0]);
  if (axes.empty()) return {x, ops::zeros_like(x)};
  const Tensor mean = ops::mean(x, axes);
  return {mean, ops::mean(ops::square(x - mean), axes)};
}

TensorSpecs BatchNormTrain::infer(std::span<const TensorSpec> in) const {
  expect_channels("batch_norm_train", in, {1, 2});
  const TensorSpec channel{statistics_dtype(in[0].dtype), {in[0].shape[-1]}};
  return {in[0], channel, channel};
}

Tensors BatchNormTrain::decompose(std::span<const Tensor> in) const {
  const Tensors moments = apply(BatchMoments(), {in[0]});
  const Tensor centered = as_statistics(in[0]) - moments[0];
  const Tensor y = centered * ops::rsqrt(moments[1] + epsilon) * in[1] + in[2];
  return {ops::cast(y, in[0].dtype()), moments[0], moments[1]};
}

Tensors BatchNormTrain::vjp(const Vjp& v) const {
  const Tensor &x = v.inputs[0], &mean = v.outputs[1], &variance = v.outputs[2];
  Tensors result(3);
  if (v.gradients[0]) {
    BatchNormBackward op;
    op.epsilon = epsilon;
    result = apply(op, {x, v.inputs[1], mean, variance, v.gradients[0]});
  }
  const double n = row_count(x.shape(), leading_axes(x.shape()));
  auto add_to_x = [&](const Tensor& g) {
    const Tensor gradient = ops::cast(g, x.dtype());
    result[0] = result[0] ? result[0] + gradient : ops::broadcast_to(gradient, x.shape());
  };
  if (v.gradients[1]) add_to_x(v.gradients[1] * (1 / n));
  if (v.gradients[2]) add_to_x((x - mean) * (v.gradients[2] * (2 / n)));
  return result;
}

TensorSpecs BatchNormBackward::infer(std::span<const TensorSpec> in) const {
  expect_channels("batch_norm_backward", in, {1, 2, 3});
  return {in[0], in[1], in[1]};
}

Tensors BatchNormBackward::decompose(std::span<const Tensor> in) const {
  const Tensor &gamma = in[1], &mean = in[2], &variance = in[3], x = as_statistics(in[0]),
               dy = as_statistics(in[4]);
  const double n = row_count(x.shape(), leading_axes(x.shape()));
  const Tensor rstd = ops::rsqrt(variance + epsilon), normalized = (x - mean) * rstd;
  const Tensor dbeta = sum_rows(dy), dgamma = sum_rows(dy * normalized);
  const Tensor dx = gamma * rstd * (dy - dbeta * (1 / n) - normalized * (dgamma * (1 / n)));
  return {ops::cast(dx, in[0].dtype()), dgamma, dbeta};
}

TensorSpecs LayerNorm::infer(std::span<const TensorSpec> in) const {
  expect_channels("layer_norm", in, {1, 2});
  const TensorSpec row{statistics_dtype(in[0].dtype), in[0].shape.slice(0, -1)};
  return {in[0], row, row};
}

Tensors LayerNorm::decompose(std::span<const Tensor> in) const {
  const Tensor x = as_statistics(in[0]), mean = ops::mean(x, {-1}, true), centered = x - mean;
  const Tensor rstd = ops::rsqrt(ops::mean(ops::square(centered), {-1}, true) + epsilon);
  const Tensor y = ops::cast(centered * rstd * in[1] + in[2], in[0].dtype());
  return {y, ops::squeeze(mean, -1), ops::squeeze(rstd, -1)};
}

Tensors LayerNorm::vjp(const Vjp& v) const {
  const Tensor &x = v.inputs[0], &mean = v.outputs[1], &rstd = v.outputs[2];
  Tensors result(3);
  if (v.gradients[0]) {
    LayerNormBackward op;
    op.epsilon = epsilon;
    result = apply(op, {x, v.inputs[1], mean, rstd, v.gradients[0]});
  }
  const double n = static_cast<double>(std::max<int64_t>(x.dim(-1), 1));
  auto add_to_x = [&](const Tensor& g) {
    const Tensor gradient = ops::cast(g, x.dtype());
    result[0] = result[0] ? result[0] + gradient : ops::broadcast_to(gradient, x.shape());
  };
  if (v.gradients[1]) add_to_x(ops::expand_dims(v.gradients[1] * (1 / n), -1));
  if (v.gradients[2]) {
    const Tensor weight = ops::expand_dims(v.gradients[2] * rstd * rstd * rstd * (-1 / n), -1);
    add_to_x((x - ops::expand_dims(mean, -1)) * weight);
  }
  return result;
}

TensorSpecs LayerNormBackward::infer(std::span<const TensorSpec> in) const {
  expect_channels("layer_norm_backward", in, {1});
  return {in[0], in[1], in[1]};
}

Tensors LayerNormBackward::decompose(std::span<const Tensor> in) const {
  const Tensor &gamma = in[1], x = as_statistics(in[0]), dy = as_statistics(in[4]);
  const Tensor mean = ops::expand_dims(in[2], -1), rstd = ops::expand_dims(in[3], -1);
  const Tensor normalized = (x - mean) * rstd, scaled_gradient = dy * gamma;
  const Tensor dx = rstd * (scaled_gradient - ops::mean(scaled_gradient, {-1}, true) -
                            normalized * ops::mean(scaled_gradient * normalized, {-1}, true));
  return {ops::cast(dx, in[0].dtype()), sum_rows(dy * normalized), sum_rows(dy)};
}

namespace ops {

namespace {

Tensor softmax_op(const Tensor& x, int axis, bool log) {
  Softmax op;
  op.axis = normal_axis(log ? "log_softmax" : "softmax", axis, x.shape());
  op.log = log;
  return apply1(op, {as_floating(x)});
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, bool sparse) {
  SoftmaxCrossEntropy op;
  op.sparse = sparse;
  return apply1(op, {logits, labels});
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) { return softmax_op(x, axis, false); }
Tensor log_softmax(const Tensor& x, int axis) { return softmax_op(x, axis, true); }

Tensor sparse_softmax_cross_entropy(const Tensor& logits, const Tensor& labels) {
  const Shape& shape = logits.shape();
  expect_rank_at_least("sparse_softmax_cross_entropy", shape, 1);
  const Tensor classes = check_indices(labels, shape[-1], "label", concat(shape[-1], " classes"));
  return cross_entropy(as_floating(logits), classes, true);
}

Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& labels) {
  const Tensor x = as_floating(logits);
  return cross_entropy(x, cast(labels, x.dtype()), false);
}

BatchNormResult batch_norm_train(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                 double epsilon) {
  BatchNormTrain op;
  op.epsilon = epsilon;
  const DType dtype = statistics_dtype(x.dtype());
  Tensors results = apply(op, {x, cast(gamma, dtype), cast(beta, dtype)});
  return {results[0], results[1], results[2]};
}

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon) {
  LayerNorm op;
  op.epsilon = epsilon;
  const DType dtype = statistics_dtype(x.dtype());
  return apply(op, {x, cast(gamma, dtype), cast(beta, dtype)})[0];
}

}  // namespace ops
}  // namespace crescent

// Softmax, cross-entropy from logits, batch and layer normalisation: one op each, because devices do them in one pass.
// decompose() states what they mean.
#include <limits>

#include "crescent/ops.h"

namespace crescent {
namespace {

using namespace ops;

/// All axes but the last.
Axes leading_axes(const Tensor& x) {
  Axes axes;
  for (int i = 0; i < x.rank() - 1; ++i) axes.push_back(i);
  return axes;
}

void require_channels(const Shape& x, const Shape& parameter, const char* op) {
  if (x.rank() < 1) fail(op, ": expected at least 1 axis, got shape ", x);
  if (!parameter.compatible({x[-1]})) fail(op, ": expected a parameter of shape (", x[-1], ",) for an input of shape ", x, ", got ", parameter);
}

bool only_first(const Vjp& v) {
  for (size_t i = 1; i < v.gradients.size(); ++i)
    if (v.gradients[i]) return false;
  return bool(v.gradients[0]);
}

Tensor labels_as_rows(const Tensor& logits, const Tensor& labels, bool sparse) {
  return sparse ? one_hot(labels, logits.dim(-1), logits.dtype()) : labels;
}

}  // namespace

// ---- softmax --------------------------------------------------------------------------------------------------

TensorSpecs Softmax::infer(std::span<const TensorSpec> inputs) const {
  if (!is_floating(inputs[0].dtype)) fail("softmax: expected a floating tensor, got ", inputs[0]);
  inputs[0].shape.axis(axis);
  return {inputs[0]};
}

Tensors Softmax::vjp(const Vjp& v) const {
  const Tensor &y = v.outputs[0], &g = v.gradients[0];
  if (log) return {g - exp(y) * sum(g, {axis}, true)};
  return {y * (g - sum(g * y, {axis}, true))};
}

Tensors Softmax::decompose(std::span<const Tensor> inputs) const {
  const Tensor shifted = inputs[0] - max(inputs[0], {axis}, true);
  if (log) return {shifted - ops::log(sum(exp(shifted), {axis}, true))};
  const Tensor e = exp(shifted);
  return {e / sum(e, {axis}, true)};
}

// ---- cross-entropy from logits --------------------------------------------------------------------------------

TensorSpecs SoftmaxCrossEntropy::infer(std::span<const TensorSpec> inputs) const {
  const Shape &logits = inputs[0].shape, &labels = inputs[1].shape;
  if (logits.rank() < 1) fail("softmax_cross_entropy: expected logits of at least 1 axis, got shape ", logits);
  const Shape rows = logits.slice(0, -1), wanted = sparse ? rows : logits;
  if (!labels.compatible(wanted))
    fail("softmax_cross_entropy: expected labels of shape ", wanted, " for logits of shape ", logits, ", got ", labels);
  if (sparse && !is_integer(inputs[1].dtype)) fail("softmax_cross_entropy: expected integer labels, got ", inputs[1]);
  return {{inputs[0].dtype, rows}};
}

/// d loss / d logits = softmax * sum(labels) - labels; the sum is 1 for class numbers.
Tensors SoftmaxCrossEntropy::vjp(const Vjp& v) const {
  const Tensor &logits = v.inputs[0], &labels = v.inputs[1], &g = v.gradients[0];
  if (sparse) return {apply1(SoftmaxCrossEntropyBackward{}, {logits, labels, g}), Tensor()};
  const Tensor rows = expand_dims(g, -1);
  Tensors result(2);
  if (v.wanted[0]) result[0] = (softmax(logits) * sum(labels, {-1}, true) - labels) * rows;
  if (v.wanted[1]) result[1] = -log_softmax(logits) * rows;
  return result;
}

Tensors SoftmaxCrossEntropy::decompose(std::span<const Tensor> inputs) const {
  const Tensor &logits = inputs[0], &labels = inputs[1];
  const Tensor loss = -sum(labels_as_rows(logits, labels, sparse) * log_softmax(logits), {-1});
  if (!sparse) return {loss};
  const Tensor inside = logical_and(greater_equal(labels, 0), less(labels, double(logits.dim(-1))));
  return {where(inside, loss, std::numeric_limits<double>::quiet_NaN())};
}

TensorSpecs SoftmaxCrossEntropyBackward::infer(std::span<const TensorSpec> inputs) const { return {inputs[0]}; }

Tensors SoftmaxCrossEntropyBackward::decompose(std::span<const Tensor> inputs) const {
  return {(softmax(inputs[0]) - labels_as_rows(inputs[0], inputs[1], sparse)) * expand_dims(inputs[2], -1)};
}

// ---- batch normalisation --------------------------------------------------------------------------------------

TensorSpecs BatchNormTrain::infer(std::span<const TensorSpec> inputs) const {
  const TensorSpec& x = inputs[0];
  for (int i : {1, 2}) require_channels(x.shape, inputs[i].shape, "batch_norm_train");
  const TensorSpec moment{x.dtype, {x.shape[-1]}};
  return {x, moment, moment};
}

Tensors BatchNormTrain::vjp(const Vjp& v) const {
  if (!only_first(v)) return Op::vjp(v);
  BatchNormBackward op;
  op.epsilon = epsilon;
  return apply(op, {v.inputs[0], v.inputs[1], v.outputs[1], v.outputs[2], v.gradients[0]});
}

Tensors BatchNormTrain::decompose(std::span<const Tensor> inputs) const {
  const Tensor& x = inputs[0];
  const Axes axes = leading_axes(x);
  const Tensor average = mean(x, axes), centred = x - average;
  const Tensor spread = mean(square(centred), axes);
  return {centred * (rsqrt(spread + epsilon) * inputs[1]) + inputs[2], average, spread};
}

TensorSpecs BatchNormBackward::infer(std::span<const TensorSpec> inputs) const { return {inputs[0], inputs[1], inputs[1]}; }

Tensors BatchNormBackward::decompose(std::span<const Tensor> inputs) const {
  const Tensor &x = inputs[0], &gamma = inputs[1], &average = inputs[2], &spread = inputs[3], &dy = inputs[4];
  const Axes axes = leading_axes(x);
  const double count = double(x.size()) / double(x.dim(-1));
  const Tensor factor = rsqrt(spread + epsilon), unit = (x - average) * factor;
  const Tensor dgamma = sum(dy * unit, axes), dbeta = sum(dy, axes);
  return {(gamma * factor) * (dy - (dbeta + unit * dgamma) / count), dgamma, dbeta};
}

// ---- layer normalisation --------------------------------------------------------------------------------------

TensorSpecs LayerNorm::infer(std::span<const TensorSpec> inputs) const {
  const TensorSpec& x = inputs[0];
  for (int i : {1, 2}) require_channels(x.shape, inputs[i].shape, "layer_norm");
  const TensorSpec moment{x.dtype, x.shape.slice(0, -1)};
  return {x, moment, moment};
}

Tensors LayerNorm::vjp(const Vjp& v) const {
  if (!only_first(v)) return Op::vjp(v);
  LayerNormBackward op;
  op.epsilon = epsilon;
  return apply(op, {v.inputs[0], v.inputs[1], v.outputs[1], v.outputs[2], v.gradients[0]});
}

Tensors LayerNorm::decompose(std::span<const Tensor> inputs) const {
  const Tensor& x = inputs[0];
  const Tensor average = mean(x, {-1}, true), centred = x - average;
  const Tensor factor = rsqrt(mean(square(centred), {-1}, true) + epsilon);
  return {centred * factor * inputs[1] + inputs[2], squeeze(average, -1), squeeze(factor, -1)};
}

TensorSpecs LayerNormBackward::infer(std::span<const TensorSpec> inputs) const { return {inputs[0], inputs[1], inputs[1]}; }

Tensors LayerNormBackward::decompose(std::span<const Tensor> inputs) const {
  const Tensor &x = inputs[0], &gamma = inputs[1], &dy = inputs[4];
  const Tensor average = expand_dims(inputs[2], -1), factor = expand_dims(inputs[3], -1);
  const Tensor unit = (x - average) * factor, dunit = dy * gamma;
  const Tensor dx = factor * (dunit - mean(dunit, {-1}, true) - unit * mean(dunit * unit, {-1}, true));
  const Axes axes = leading_axes(x);
  return {dx, sum(dy * unit, axes), sum(dy, axes)};
}

// ---- functions ------------------------------------------------------------------------------------------------

namespace ops {

Tensor softmax(const Tensor& x, int axis) {
  Softmax op;
  op.axis = x.shape().axis(axis);
  return apply1(op, {x});
}

Tensor log_softmax(const Tensor& x, int axis) {
  Softmax op;
  op.axis = x.shape().axis(axis);
  op.log = true;
  return apply1(op, {x});
}

Tensor sparse_softmax_cross_entropy(const Tensor& logits, const Tensor& labels) {
  return apply1(SoftmaxCrossEntropy{}, {logits, labels});
}

Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& labels) {
  SoftmaxCrossEntropy op;
  op.sparse = false;
  return apply1(op, {logits, cast(labels, logits.dtype())});
}

Moments batch_norm_train(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon) {
  BatchNormTrain op;
  op.epsilon = epsilon;
  const Tensors r = apply(op, {x, gamma, beta});
  return {r[0], r[1], r[2]};
}

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon) {
  LayerNorm op;
  op.epsilon = epsilon;
  return apply1(op, {x, gamma, beta});
}

}  // namespace ops
}  // namespace crescent

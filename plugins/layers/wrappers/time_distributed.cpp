// TimeDistributed: applies a layer to every step of a sequence, which is passed to the layer as
// (batch * time, ...) instead of (batch, time, ...).
#include <algorithm>

#include "crescent/registry/registration.h"
#include "wrapper.h"

namespace crescent {
namespace {

/// Reshapes x. More than one size may be unknown only while shapes are inferred.
Tensor reshape_or_abstract(const Tensor& x, const Shape& shape) {
  int unknown_count = 0;
  for (int i = 0; i < shape.rank(); ++i) unknown_count += shape[i] < 0;
  return unknown_count > 1 ? Tensor::abstract({x.dtype(), shape}) : ops::reshape(x, shape);
}

/// Reshapes (batch, time, ...) to (batch * time, ...).
Tensor merge_time_axis(const Tensor& x) {
  const int64_t batch = x.dim(0), step_count = x.dim(1);
  const Shape leading_shape{batch < 0 || step_count < 0 ? -1 : batch * step_count};
  return reshape_or_abstract(x, leading_shape.concat(x.shape().slice(2, x.rank())));
}

/// Reshapes (batch * time, ...) to (batch, time, ...).
Tensor split_time_axis(const Tensor& x, int64_t batch, int64_t step_count) {
  return reshape_or_abstract(x, Shape{batch, step_count}.concat(x.shape().slice(1, x.rank())));
}

/// Step i: x[:, i].
Tensor step_of(const Tensor& x, int64_t i) {
  return ops::squeeze(ops::slice_axis(x, 1, i, i + 1), 1);
}

class TimeDistributed final : public BaseWrapper {
 public:
  static void describe(Schema<TimeDistributed>& s) {
    s.doc("Applies a layer to every step of a sequence. (batch, time, ...) -> (batch, time, ...)");
    describe_layer(s);
  }
  void configured() override {
    BaseWrapper::configured();
    set_supports_masking(true);
  }
  InputCount input_count() const override { return {1, 1}; }
  void build(const std::vector<Shape>& inputs) override {
    const Shape& x = inputs[0];
    if (x.rank() < 3)
      fail(
          "`TimeDistributed` Layer should be passed an `input_shape` with at least 3 dimensions, "
          "received: ",
          x);
    layer()->build_for({Shape{x[0]}.concat(x.slice(2, x.rank()))});
  }
  Tensors call(const Tensors& inputs, const Call& call) override {
    const Tensor &x = inputs[0], &mask = call.mask();
    if (mask && (mask.rank() < 2 || !mask.shape().slice(0, 2).compatible(x.shape().slice(0, 2))))
      fail("`TimeDistributed` Layer should be passed a `mask` of shape (", x.dim(0), ", ", x.dim(1),
           ", ...), received: mask.shape=", mask.shape());
    return steps_depend_on_each_other(call) && x.dim(1) > 0 ? step_by_step(x, mask)
                                                            : all_at_once(x, mask);
  }
  /// The masks of the outputs: those that the wrapped layer has set, else the mask of the input, in
  /// which a step is unmasked if any of its elements is.
  Tensors compute_mask(const Tensors&, const Tensors& masks, const Tensors& outputs) override {
    Tensors result;
    for (const Tensor& output : outputs) {
      Tensor mask = output.mask();
      if (!mask && !masks.empty() && masks[0]) {
        mask = masks[0];
        while (mask.rank() > 2) mask = ops::any(mask, {-1});
      }
      result.push_back(mask);
    }
    return result;
  }

 private:
  /// Whether steps must be computed one after another, as in Keras, because the layer changes
  /// variables when it is called.
  bool steps_depend_on_each_other(const Call& call) const {
    for (const Layer* nested_layer : layer()->flatten_layers())
      if (nested_layer->stateful()) return true;
    const Variables weights = layer()->weights();
    return call.training && std::any_of(weights.begin(), weights.end(),
                                        [](const Variable& v) { return !v.trainable(); });
  }
  /// Whether a mask is passed to the wrapped layer. A mask (batch, time) is only passed if the
  /// inputs of that layer are vectors.
  static bool applies_to(const Tensor& mask, const Tensor& x) {
    return mask && (mask.rank() > 2 || x.rank() == 3);
  }
  Tensors all_at_once(const Tensor& x, const Tensor& mask) const {
    CallOptions options;
    if (applies_to(mask, x)) options.masks = {merge_time_axis(mask)};
    Tensors outputs = (*layer())(Tensors{merge_time_axis(x)}, options);
    for (Tensor& output : outputs) {
      const Tensor layer_mask = output.mask();
      output = split_time_axis(output, x.dim(0), x.dim(1));
      if (layer_mask) output = output.with_mask(split_time_axis(layer_mask, x.dim(0), x.dim(1)));
    }
    return outputs;
  }
  Tensors step_by_step(const Tensor& x, const Tensor& mask) const {
    // for each output of the wrapped layer, its steps and the masks of these
    std::vector<Tensors> steps, masks;
    for (int64_t i = 0; i < x.dim(1); ++i) {
      CallOptions options;
      if (applies_to(mask, x)) options.masks = {step_of(mask, i)};
      const Tensors outputs = (*layer())(Tensors{step_of(x, i)}, options);
      steps.resize(outputs.size());
      masks.resize(outputs.size());
      for (size_t k = 0; k < outputs.size(); ++k) {
        steps[k].push_back(outputs[k]);
        if (outputs[k].mask()) masks[k].push_back(outputs[k].mask());
      }
    }
    Tensors outputs;
    for (size_t k = 0; k < steps.size(); ++k) {
      outputs.push_back(ops::stack(steps[k], 1));
      if (!masks[k].empty()) outputs[k] = outputs[k].with_mask(ops::stack(masks[k], 1));
    }
    return outputs;
  }
};

}  // namespace

CRESCENT_REGISTER(time_distributed) { registry.add<TimeDistributed>("TimeDistributed"); }

}  // namespace crescent

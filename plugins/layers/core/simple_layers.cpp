// Core layers without weights.
#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"
#include "quantizers.h"

namespace crescent {
namespace {

class ActivationLayer final : public UnaryLayer {
 public:
  static void describe(Schema<ActivationLayer>& s) {
    s.doc("Applies an activation function.")
        .field("activation", &ActivationLayer::activation_, "Name of an activation, or a function.")
        .required();
  }
  void configured() override {
    UnaryLayer::configured();
    set_supports_masking(true);
  }
  Tensor call(const Tensor& x, const Call&) override { return apply_activation(activation_, x); }

 private:
  Ref<Activation> activation_;
};

class IdentityLayer final : public Layer {
 public:
  static void describe(Schema<IdentityLayer>& s) {
    s.doc("Returns its input, a tensor or a structure of tensors, unchanged.");
  }
  void configured() override {
    Layer::configured();
    set_supports_masking(true);
  }
  bool takes_structures() const override { return true; }
  Tensors call(const Tensors& inputs, const Call& call) override {
    set_output_structure(nested_or_null(call.structure));
    return inputs;
  }
  Tensors compute_mask(const Tensors&, const Tensors& masks, const Tensors&) override {
    return masks;
  }
};

class Masking final : public UnaryLayer {
 public:
  static void describe(Schema<Masking>& s) {
    s.doc("Masks the steps in which all features equal mask_value, and sets them to zero.")
        .field("mask_value", &Masking::mask_value_, "The value that marks padding.");
  }
  void configured() override {
    UnaryLayer::configured();
    set_supports_masking(true);
  }
  Tensor call(const Tensor& x, const Call&) override {
    return x * ops::cast(mask_of(x, true), x.dtype());
  }
  Tensors compute_mask(const Tensors& inputs, const Tensors&, const Tensors&) override {
    return {mask_of(inputs[0], false)};
  }

 private:
  Tensor mask_of(const Tensor& x, bool keepdims) const {
    return ops::any(ops::not_equal(x, mask_value_), {-1}, keepdims);
  }
  double mask_value_ = 0;
};

}  // namespace

CRESCENT_REGISTER(simple_layers) {
  registry.add<ActivationLayer>("Activation");
  registry.add<IdentityLayer>("Identity");
  registry.add<Masking>("Masking");
}

}  // namespace crescent

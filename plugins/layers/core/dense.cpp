#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"
#include "quantized_layer.h"

namespace crescent {
namespace {

class Dense final : public QuantizableLayer {
 public:
  static void describe(Schema<Dense>& s) {
    s.doc(
         "Fully connected layer: activation(x . kernel + bias). (batch, ..., in) -> (batch, ..., "
         "units)")
        .field("units", &Dense::units_, "Size of the output.")
        .required()
        .min(1)
        .field("activation", &Dense::activation_, "Activation function of the output.")
        .field("use_bias", &Dense::use_bias_, "Add a bias.")
        .weight_options({{"kernel", &Dense::kernel_rules_, "the kernel (in, units)"},
                         {"bias", &Dense::bias_rules_, "the bias (units)"}},
                        &Dense::activity_regularizer_);
    describe_lora(s);
    describe_quantization(s);
  }
  void configured() override {
    QuantizableLayer::configured();
    set_supports_masking(true);
    set_input_specs({InputSpec::with_min_ndim(2)});
  }
  void build(const Shape& input) override {
    const int64_t in = input[-1];
    if (in < 0) fail("the last dimension of the input must be known, got shape ", input);
    kernel_.layout = {{in, units_}, {0}, {1}, {units_}};
    add_quantizable(kernel_, kernel_rules_);
    if (use_bias_) bias_ = add_weight("bias", {units_}, bias_rules_);
    set_input_specs({InputSpec::with_min_ndim(2).axis(-1, in)});
    build_lora();
  }
  Tensor call(const Tensor& x, const Call&) override {
    Tensor y = is_quantized() ? product(kLastByFirst, x, kernel_)
               : adapter()    ? ops::dot(x, ops::cast(kernel_.values(), x.dtype()))
                              : ops::dot(x, kernel_.values());
    if (adapter()) y = y + adapter()->term_for(x);
    if (use_bias_) y = y + bias_;
    return apply_activation(activation_, y);
  }

 protected:
  const WeightRules& adapted_rules() const override { return kernel_rules_; }

 private:
  int64_t units_ = 0;
  Ref<Activation> activation_ = "linear";
  bool use_bias_ = true;
  WeightRules kernel_rules_{"glorot_uniform"}, bias_rules_{"zeros"};
  QuantizedWeight kernel_{"kernel", {}};
  Variable bias_;
};

}  // namespace

CRESCENT_REGISTER(dense) { registry.add<Dense>("Dense"); }

}  // namespace crescent

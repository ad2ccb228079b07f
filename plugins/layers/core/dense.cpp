#include "core_layers.h"

namespace crescent {
namespace {

class Dense final : public UnaryLayer {
 public:
  static void describe(Schema<Dense>& s) {
    s.doc("Fully connected: activation(x . kernel + bias). (batch, ..., in) -> (batch, ..., units)")
        .field("units", &Dense::units_, "Width of the output.")
        .required()
        .min(1)
        .field("activation", &Dense::activation_, "Applied to the result.")
        .field("use_bias", &Dense::use_bias_, "Add a bias vector.")
        .field("kernel_initializer", &Dense::kernel_initializer_,
               "How the kernel (in, units) starts.")
        .field("bias_initializer", &Dense::bias_initializer_, "How the bias (units) starts.")
        .field("kernel_regularizer", &Dense::kernel_regularizer_, "Penalty on the kernel.")
        .field("bias_regularizer", &Dense::bias_regularizer_, "Penalty on the bias.")
        .field("activity_regularizer", &Dense::activity_regularizer_, "Penalty on the output.")
        .field("kernel_constraint", &Dense::kernel_constraint_,
               "Projection of the kernel after updates.")
        .field("bias_constraint", &Dense::bias_constraint_,
               "Projection of the bias after updates.");
  }
  void configured() override {
    UnaryLayer::configured();
    set_supports_masking(true);
    set_activity_regularizer(activity_regularizer_.shared());
    set_input_specs({InputSpec::with_min_ndim(2)});
  }
  void build(const Shape& input) override {
    const int64_t in = input[-1];
    if (in < 0) fail("the last dimension of the input must be known, got shape ", input);
    kernel_ = add_weight("kernel", {in, units_}, kernel_initializer_,
                         {kernel_regularizer_.shared(), kernel_constraint_.shared()});
    if (use_bias_)
      bias_ = add_weight("bias", {units_}, bias_initializer_,
                         {bias_regularizer_.shared(), bias_constraint_.shared()});
    set_input_specs({InputSpec::with_min_ndim(2).axis(-1, in)});
  }
  Tensor call(const Tensor& x, const Call&) override {
    Tensor y = ops::dot(x, kernel_);
    if (use_bias_) y = y + bias_;
    return activation_ ? (*activation_)(y) : y;
  }

 private:
  int64_t units_ = 0;
  Ref<Activation> activation_ = "linear";
  bool use_bias_ = true;
  Ref<Initializer> kernel_initializer_ = "glorot_uniform", bias_initializer_ = "zeros";
  Ref<Regularizer> kernel_regularizer_, bias_regularizer_, activity_regularizer_;
  Ref<Constraint> kernel_constraint_, bias_constraint_;
  Variable kernel_, bias_;
};

}  // namespace

void add_dense(Registry& registry) { registry.add<Dense>("Dense"); }

}  // namespace crescent

// Depthwise convolutions, which convolve each channel separately.
#include "convolution.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

template <int Axes>
class DepthwiseConv final : public WindowedLayer<Axes> {
 public:
  static void describe(Schema<DepthwiseConv>& s) {
    s.doc("Convolves each channel separately, with depth_multiplier kernels per channel.");
    DepthwiseConv::describe_kernel_size(s);
    DepthwiseConv::describe_strides(s);
    DepthwiseConv::describe_padding(s, false);
    s.field("depth_multiplier", &DepthwiseConv::depth_multiplier_,
            "Number of output channels per input channel.")
        .min(1);
    DepthwiseConv::describe_data_format(s);
    DepthwiseConv::describe_dilation(s);
    DepthwiseConv::describe_result(s);
    s.weight_options({{"depthwise", &DepthwiseConv::kernel_rules_, "the kernel"},
                      {"bias", &DepthwiseConv::bias_rules_}},
                     &DepthwiseConv::activity_regularizer_);
    DepthwiseConv::describe_mask(s);
  }

 protected:
  int64_t out_channels(int64_t channels) const override { return channels * depth_multiplier_; }
  void build_kernels(const Shape&, int64_t channels) override {
    kernel_ = this->add_weight(
        "kernel", Shape(this->kernel_size_).concat({channels, depth_multiplier_}), kernel_rules_);
  }
  Tensor convolution(const Tensor& x) const override {
    return this->convolved_by_channel(x, kernel_);
  }

 private:
  int64_t depth_multiplier_ = 1;
  WeightRules kernel_rules_{"glorot_uniform"};
  Variable kernel_;
};

}  // namespace

CRESCENT_REGISTER(depthwise) {
  registry.add<DepthwiseConv<1>>("DepthwiseConv1D");
  registry.add<DepthwiseConv<2>>("DepthwiseConv2D");
}

}  // namespace crescent

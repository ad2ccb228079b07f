// Separable convolutions: depthwise convolutions followed by pointwise ones.
#include "convolution.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

template <int Axes>
class SeparableConv final : public WindowedLayer<Axes> {
 public:
  static void describe(Schema<SeparableConv>& s) {
    s.doc("A depthwise convolution followed by a pointwise convolution that mixes the channels.")
        .field("filters", &SeparableConv::filters_, "Number of output channels.")
        .required()
        .min(1);
    SeparableConv::describe_kernel_size(s);
    SeparableConv::describe_strides(s);
    SeparableConv::describe_padding(s, Axes == 1);
    SeparableConv::describe_data_format(s);
    SeparableConv::describe_dilation(s);
    s.field("depth_multiplier", &SeparableConv::depth_multiplier_,
            "Number of depthwise outputs per channel.")
        .min(1);
    SeparableConv::describe_result(s);
    s.weight_options({{"depthwise", &SeparableConv::depthwise_rules_, "the kernel of each channel"},
                      {"pointwise", &SeparableConv::pointwise_rules_, "the kernel that mixes"},
                      {"bias", &SeparableConv::bias_rules_}},
                     &SeparableConv::activity_regularizer_);
    SeparableConv::describe_mask(s);
  }

 protected:
  int64_t out_channels(int64_t) const override { return filters_; }
  void build_kernels(const Shape&, int64_t channels) override {
    depthwise_ = this->add_weight("depthwise_kernel",
                                  Shape(this->kernel_size_).concat({channels, depth_multiplier_}),
                                  depthwise_rules_);
    const Shape pixel(std::vector<int64_t>(Axes, 1));
    pointwise_ =
        this->add_weight("pointwise_kernel", pixel.concat({channels * depth_multiplier_, filters_}),
                         pointwise_rules_);
  }
  Tensor convolution(const Tensor& x) const override {
    return ops::conv(this->convolved_by_channel(x, depthwise_), pointwise_, {1},
                     ops::Padding::valid);
  }

 private:
  int64_t filters_ = 0, depth_multiplier_ = 1;
  WeightRules depthwise_rules_{"glorot_uniform"}, pointwise_rules_{"glorot_uniform"};
  Variable depthwise_, pointwise_;
};

}  // namespace

CRESCENT_REGISTER(separable) {
  registry.add<SeparableConv<1>>("SeparableConv1D", {"SeparableConvolution1D"});
  registry.add<SeparableConv<2>>("SeparableConv2D", {"SeparableConvolution2D"});
}

}  // namespace crescent

// The base of convolution layers: options, weights, data formats.
#pragma once
#include <algorithm>

#include "../../elementwise.h"
#include "../spatial.h"

namespace crescent {

/// The base of convolutions with any number of kernels: windows, bias, activation.
template <int Axes>
class WindowedLayer : public SpatialLayer<Axes> {
 public:
  WindowedLayer() { this->carry_mask_ = Axes == 1; }
  void configured() override {
    SpatialLayer<Axes>::configured();
    kernel_size_ = per_axis(kernel_size_, Axes, "kernel_size");
    strides_ = per_axis(strides_, Axes, "strides");
    dilation_ = per_axis(dilation_, Axes, "dilation_rate");
    for (int64_t d : dilation_)
      for (int64_t s : strides_)
        if (d > 1 && s > 1)
          fail("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: ",
               "strides=", Value(strides_), " and dilation_rate=", Value(dilation_));
  }
  /// Adds the kernels, whose shape depends on the channels of the input, then the bias.
  void build(const Shape& input) override {
    const int axis = this->channels_first() ? 1 : -1;
    const int64_t channels = input[axis];
    if (channels < 0)
      fail("The channel dimension of the inputs should be defined. Got shape ", input);
    build_kernels(input, channels);
    if (use_bias_) bias_ = this->add_weight("bias", {out_channels(channels)}, bias_rules_);
    this->set_input_specs({InputSpec::with_ndim(Axes + 2).axis(axis, channels)});
  }
  Tensor call(const Tensor& x, const Call&) override {
    const bool is_activation_elementwise = is_elementwise(activation_);
    const Tensor y = this->with_channels_last(x, [&](const Tensor& images) {
      Tensor sums = convolution(images);
      if (use_bias_) sums = sums + bias_;
      return is_activation_elementwise ? apply_activation(activation_, sums) : sums;
    });
    return is_activation_elementwise ? y : apply_activation(activation_, y);
  }

 protected:
  template <class T>
  static void describe_kernel_size(Schema<T>& s) {
    s.field("kernel_size", &WindowedLayer::kernel_size_, "Size of the window.").required().min(1);
  }
  template <class T>
  static void describe_strides(Schema<T>& s) {
    s.field("strides", &WindowedLayer::strides_, "Distance between windows.").min(1);
  }
  template <class T>
  static void describe_padding(Schema<T>& s, bool allows_causal) {
    std::vector<std::string> paddings{"valid", "same"};
    if (allows_causal) paddings.push_back("causal");
    s.field("padding", &WindowedLayer::padding_,
            allows_causal
                ? "\"valid\": no padding; \"same\": padding so that there are ceil(n / stride) "
                  "windows; \"causal\": padding at the start only, so that no output depends on "
                  "later steps."
                : "\"valid\": no padding; \"same\": padding so that there are ceil(n / stride) "
                  "windows.")
        .choices(paddings);
  }
  template <class T>
  static void describe_dilation(Schema<T>& s) {
    s.field("dilation_rate", &WindowedLayer::dilation_,
            "Distance between the elements of a window.")
        .min(1);
  }
  /// Declares the option carry_mask of layers with one spatial axis. It must come after all other
  /// options.
  template <class T>
  static void describe_mask(Schema<T>& s) {
    if (Axes == 1) WindowedLayer::describe_carry_mask(s);
  }
  Tensor output_mask(const Tensor& mask, const Tensor&, const Tensor&) const override {
    return mask_of_windows(mask, kernel_size_[0], strides_[0], dilation_[0], padding_);
  }
  template <class T>
  static void describe_result(Schema<T>& s) {
    s.field("activation", &WindowedLayer::activation_, "Activation function of the output.")
        .field("use_bias", &WindowedLayer::use_bias_, "Add a bias.");
  }
  Tensor convolved(const Tensor& x, const Tensor& kernel, int64_t groups = 1) const {
    return ops::conv(x, kernel, strides_, padding_named(padding_), dilation_, groups);
  }
  /// Convolves each channel with kernels of its own (window..., channels, multiplier). In the
  /// result the outputs of the first channel come first.
  Tensor convolved_by_channel(const Tensor& x, const Tensor& kernel) const {
    Shape shape(kernel_size_);
    shape.append(1);
    shape.append(kernel.dim(-2) * kernel.dim(-1));
    return convolved(x, ops::reshape(kernel, shape), kernel.dim(-2));
  }
  virtual int64_t out_channels(int64_t channels) const = 0;
  virtual void build_kernels(const Shape& input, int64_t channels) = 0;
  /// Computes the convolution; x and the result have channels last.
  virtual Tensor convolution(const Tensor& x) const = 0;

  std::vector<int64_t> kernel_size_, strides_ = std::vector<int64_t>(Axes, 1),
                                     dilation_ = std::vector<int64_t>(Axes, 1);
  std::string padding_ = "valid";
  Ref<Activation> activation_ = "linear";
  bool use_bias_ = true;
  WeightRules bias_rules_{"zeros"};
  Variable bias_;
};

/// The base of convolutions with a single kernel.
template <int Axes>
class BaseConv : public WindowedLayer<Axes> {
 public:
  void configured() override {
    WindowedLayer<Axes>::configured();
    if (filters_ % groups_ != 0)
      fail("The number of filters must be evenly divisible by the number of groups. Received: ",
           "groups=", groups_, ", filters=", filters_, ".");
  }

 protected:
  template <class T>
  static void describe_sizes(Schema<T>& s) {
    s.field("filters", &BaseConv::filters_, "Number of output channels.").required().min(1);
    BaseConv::describe_kernel_size(s);
    BaseConv::describe_strides(s);
  }
  template <class T>
  static void describe_result_and_weights(Schema<T>& s) {
    BaseConv::describe_result(s);
    s.weight_options({{"kernel", &BaseConv::kernel_rules_}, {"bias", &BaseConv::bias_rules_}},
                     &BaseConv::activity_regularizer_);
  }
  int64_t out_channels(int64_t) const override { return filters_; }
  void build_kernels(const Shape& input, int64_t channels) override {
    if (channels % groups_ != 0)
      fail("The number of input channels must be evenly divisible by the number of groups. ",
           "Received groups=", groups_, ", but the input has ", channels,
           " channels (full input shape is ", input, ").");
    add_kernel(kernel_shape(channels));
  }
  virtual Shape kernel_shape(int64_t channels) const = 0;
  virtual void add_kernel(const Shape& shape) = 0;

  int64_t filters_ = 0, groups_ = 1;
  WeightRules kernel_rules_{"glorot_uniform"};
};

}  // namespace crescent

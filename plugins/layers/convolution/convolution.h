// What the convolution layers share: options, weights, data formats.
#pragma once
#include <algorithm>

#include "crescent/layer.h"

namespace crescent {

/// One value per spatial axis; a single one serves all.
inline std::vector<int64_t> per_axis(const std::vector<int64_t>& values, int axes,
                                     const char* option) {
  if (values.size() == 1) return std::vector<int64_t>(axes, values[0]);
  if (int(values.size()) != axes)
    fail(option, ": expected 1 or ", axes, " integers, got ", Value(values));
  return values;
}

inline ops::Padding padding_named(const std::string& name) {
  return name == "same"     ? ops::Padding::same
         : name == "causal" ? ops::Padding::causal
                            : ops::Padding::valid;
}

/// (batch, channels, spatial...) <-> (batch, spatial..., channels).
inline Tensor channels_to_last(const Tensor& x) {
  std::vector<int> axes{0};
  for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
  axes.push_back(1);
  return ops::transpose(x, axes);
}
inline Tensor channels_to_first(const Tensor& x) {
  std::vector<int> axes{0, x.rank() - 1};
  for (int i = 1; i < x.rank() - 1; ++i) axes.push_back(i);
  return ops::transpose(x, axes);
}

/// Options and weights of every convolution of `Axes` spatial axes; derived classes give the
/// product.
template <int Axes>
class BaseConv : public UnaryLayer {
 public:
  void configured() override {
    UnaryLayer::configured();
    kernel_size_ = per_axis(kernel_size_, Axes, "kernel_size");
    strides_ = per_axis(strides_, Axes, "strides");
    dilation_ = per_axis(dilation_, Axes, "dilation_rate");
    for (int64_t d : dilation_)
      for (int64_t s : strides_)
        if (d > 1 && s > 1)
          fail("strides > 1 and dilation_rate > 1 cannot be combined, got ", Value(strides_),
               " and ", Value(dilation_));
    if (filters_ % groups_ != 0)
      fail("filters (", filters_, ") must be divisible by groups (", groups_, ")");
    if (padding_ == "causal" && (Axes != 1 || channels_first()))
      fail("padding 'causal' needs Conv1D with channels_last");
    set_activity_regularizer(activity_regularizer_.shared());
    set_input_specs({InputSpec::with_ndim(Axes + 2)});
  }
  void build(const Shape& input) override {
    const int channel_axis = channels_first() ? 1 : -1;
    const int64_t channels = input[channel_axis];
    if (channels < 0)
      fail("The channel dimension of the inputs should be defined. Got shape ", input);
    if (channels % groups_ != 0)
      fail("the ", channels, " channels of the input must be divisible by groups (", groups_, ")");
    kernel_ = add_weight("kernel", kernel_shape(channels), kernel_rules_);
    if (use_bias_) bias_ = add_weight("bias", {filters_}, bias_rules_);
    set_input_specs({InputSpec::with_ndim(Axes + 2).axis(channel_axis, channels)});
  }
  Tensor call(const Tensor& x, const Call&) override {
    Tensor y = product(channels_first() ? channels_to_last(x) : x);
    if (use_bias_) y = y + bias_;
    if (activation_) y = (*activation_)(y);
    return channels_first() ? channels_to_first(y) : y;
  }

 protected:
  template <class T>
  static void describe_sizes(Schema<T>& s) {
    s.field("filters", &BaseConv::filters_, "Channels of the output.")
        .required()
        .min(1)
        .field("kernel_size", &BaseConv::kernel_size_, "Extent of the window.")
        .required()
        .min(1)
        .field("strides", &BaseConv::strides_, "Steps of the window.")
        .min(1);
  }
  template <class T>
  static void describe_rest(Schema<T>& s) {
    s.field("activation", &BaseConv::activation_, "Applied to the result.")
        .field("use_bias", &BaseConv::use_bias_, "Add a bias vector.")
        .weight_options({{"kernel", &BaseConv::kernel_rules_}, {"bias", &BaseConv::bias_rules_}},
                        &BaseConv::activity_regularizer_);
  }
  bool channels_first() const { return data_format_ && *data_format_ == "channels_first"; }
  virtual Shape kernel_shape(int64_t channels) const = 0;
  virtual Tensor product(const Tensor& x) const = 0;  ///< channels last

  int64_t filters_ = 0, groups_ = 1;
  std::vector<int64_t> kernel_size_, strides_{1}, dilation_{1};
  std::string padding_ = "valid";
  std::optional<std::string> data_format_ = "channels_last";
  Ref<Activation> activation_ = "linear";
  bool use_bias_ = true;
  WeightRules kernel_rules_{"glorot_uniform"}, bias_rules_{"zeros"};
  Ref<Regularizer> activity_regularizer_;
  Variable kernel_, bias_;
};

}  // namespace crescent

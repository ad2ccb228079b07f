// Locally connected layers (Keras 2), which have a separate kernel for every position.
#include "convolution.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

template <int Axes>
class LocallyConnected final : public WindowedLayer<Axes> {
 public:
  static void describe(Schema<LocallyConnected>& s) {
    s.doc("A convolution with separate kernels for each position (Keras 2).")
        .field("filters", &LocallyConnected::filters_, "Number of output channels.")
        .required()
        .min(1);
    LocallyConnected::describe_kernel_size(s);
    LocallyConnected::describe_strides(s);
    s.field("padding", &LocallyConnected::padding_, "\"valid\": no padding.");
    LocallyConnected::describe_data_format(s);
    LocallyConnected::describe_result(s);
    s.weight_options(
        {{"kernel", &LocallyConnected::kernel_rules_}, {"bias", &LocallyConnected::bias_rules_}},
        &LocallyConnected::activity_regularizer_);
    LocallyConnected::describe_mask(s);
  }
  void configured() override {
    WindowedLayer<Axes>::configured();
    if (this->padding_ != "valid")
      fail("Invalid border mode for LocallyConnected", Axes,
           "D (only \"valid\" is supported): ", this->padding_);
  }
  void build(const Shape& input) override {
    const Shape spatial_shape =
        input.slice(this->first_spatial_axis(), this->first_spatial_axis() + Axes);
    const int64_t channels = input[this->channel_axis()];
    if (!spatial_shape.is_known() || channels < 0)
      fail("The spatial dimensions of the inputs to a LocallyConnected", Axes,
           "D layer should be fully-defined, but layer received the inputs shape ", input);
    output_spatial_shape_ = Shape();
    for (int i = 0; i < Axes; ++i) {
      const int64_t window = this->kernel_size_[size_t(i)];
      if (window > spatial_shape[i])
        fail("kernel_size ", Value(this->kernel_size_), " is larger than the input ", input);
      output_spatial_shape_.append((spatial_shape[i] - window) / this->strides_[size_t(i)] + 1);
    }
    const int64_t values = Shape(this->kernel_size_).size() * channels;
    kernel_ =
        this->add_weight("kernel", {output_spatial_shape_.size(), values, filters_}, kernel_rules_);
    if (this->use_bias_)
      this->bias_ =
          this->add_weight("bias", output_spatial_shape_.concat({filters_}), this->bias_rules_);
    InputSpec spec = InputSpec::with_ndim(Axes + 2);
    for (int i = 1; i < Axes + 2; ++i) spec.axis(i, input[i]);
    this->set_input_specs({spec});
  }

 protected:
  /// Multiplies the window at each position by the kernel of the position.
  Tensor convolution(const Tensor& x) const override {
    const Tensor operands[] = {windows(x), kernel_};
    const Tensor y = ops::einsum("bpk,pkf->bpf", operands);
    return ops::reshape(y, Shape{x.dim(0)}.concat(output_spatial_shape_).concat({filters_}));
  }

 private:
  int64_t out_channels(int64_t) const override { return filters_; }
  void build_kernels(const Shape&, int64_t) override {}
  /// The windows (batch, positions, values of a window). As in Keras, values are ordered by
  /// position in the window, then channel; with channels first by channel, then position.
  Tensor windows(const Tensor& x) const {
    Tensors taps;
    const Shape window(this->kernel_size_);
    for (int64_t tap = 0; tap < window.size(); ++tap) {
      Tensor values = x;
      int64_t remaining_index = tap;
      for (int i = Axes - 1; i >= 0; --i) {
        const int64_t tap_offset = remaining_index % window[i], step = this->strides_[size_t(i)];
        remaining_index /= window[i];
        values = ops::slice_axis(values, i + 1, tap_offset,
                                 tap_offset + (output_spatial_shape_[i] - 1) * step + 1, step);
      }
      taps.push_back(ops::reshape(values, {x.dim(0), output_spatial_shape_.size(), x.dim(-1)}));
    }
    const Tensor stacked_taps = ops::stack(taps, this->channels_first() ? 3 : 2);
    return ops::reshape(stacked_taps,
                        {x.dim(0), output_spatial_shape_.size(), window.size() * x.dim(-1)});
  }

  int64_t filters_ = 0;
  WeightRules kernel_rules_{"glorot_uniform"};
  Variable kernel_;
  Shape output_spatial_shape_;
};

}  // namespace

CRESCENT_REGISTER(locally_connected) {
  registry.add<LocallyConnected<1>>("LocallyConnected1D");
  registry.add<LocallyConnected<2>>("LocallyConnected2D");
}

}  // namespace crescent

#include "convolution.h"

#include "../core/quantized_layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

constexpr const char* kDoc[] = {
    "", "Convolution over steps: (batch, steps, channels) -> (batch, new steps, filters).",
    "Convolution over images: (batch, rows, columns, channels) -> (batch, new rows, new columns, "
    "filters).",
    "Convolution over volumes: (batch, three axes, channels) -> (batch, three axes, filters)."};

template <int Axes>
class ConvLayer final : public QuantizableLayerOf<BaseConv<Axes>> {
 public:
  static void describe(Schema<ConvLayer>& s) {
    s.doc(kDoc[Axes]);
    BaseConv<Axes>::describe_sizes(s);
    BaseConv<Axes>::describe_padding(s, Axes == 1);
    BaseConv<Axes>::describe_data_format(s);
    BaseConv<Axes>::describe_dilation(s);
    s.field("groups", &ConvLayer::groups_,
            "Number of groups into which channels and filters are divided.")
        .min(1);
    BaseConv<Axes>::describe_result_and_weights(s);
    s.keyword_only(true);
    ConvLayer::describe_lora(s);
    ConvLayer::describe_config(s,
                               "How the kernel is quantized, if the dtype policy is one such as "
                               "\"int8_from_float32\"; null: it is not. Keras has no such option.");
    s.keyword_only(false);
    ConvLayer::describe_quantize(s, &ConvLayer::quantize_on_request);
    s.arg("convolutions", "Must be true, because Keras does not quantize convolutions.", false);
    s.property("can_be_int8", &ConvLayer::can_be_int8,
               "Whether quantize with convolutions = true quantizes the kernel: one with groups "
               "stays as it is.");
    BaseConv<Axes>::describe_mask(s);
  }
  void build(const Shape& input) override {
    BaseConv<Axes>::build(input);
    this->build_lora();
  }
  bool can_be_int8() const { return this->groups_ == 1; }
  void quantize_on_request(const Value& mode_or_config, const Value& config,
                           bool include_convolutions) {
    if (!include_convolutions)
      fail_in_layer(this->name_, "Layer ", this->class_name(),
                    " does not have a `quantize` method implemented. Pass convolutions = true to ",
                    "quantize it nevertheless, in a way that Keras does not have.");
    this->quantize(mode_or_config, config);
  }

 protected:
  const WeightRules& adapted_rules() const override { return this->kernel_rules_; }
  bool is_quantized_by_policy() const override { return false; }
  void check_config(const QuantizationConfig& config) const override {
    if (config.mode() != "int8")
      fail("quantize: convolutions are quantized to int8 only, got ", config.mode());
    if (!can_be_int8())
      fail("quantize: a convolution with groups stays as it is: expected groups = 1, got ",
           this->groups_);
  }
  Shape kernel_shape(int64_t channels) const override {
    Shape shape(this->kernel_size_);
    shape.append(channels / this->groups_);
    shape.append(this->filters_);
    return shape;
  }
  void add_kernel(const Shape& shape) override {
    kernel_.layout = {shape, {}, {Axes + 1}, {this->filters_}};
    for (int axis = 0; axis <= Axes; ++axis) kernel_.layout.summed_axes.push_back(axis);
    this->add_quantizable(kernel_, this->kernel_rules_);
  }
  Tensor convolution(const Tensor& x) const override {
    if (!this->is_quantized())
      return this->convolved(x, this->adapted_value(x.dtype()), this->groups_);
    const Tensor y = convolve_integers(x);
    if (!this->adapter()) return y;
    return y + this->convolved(x, ops::cast(this->adapter()->weight_term(), x.dtype()));
  }

 private:
  Tensor convolve_integers(const Tensor& x) const {
    const std::optional<AbsMax> input_rounding = this->config().input_rounding();
    if (!input_rounding) return this->convolved(x, ops::cast(this->floats(kernel_), x.dtype()));
    const Quantized kernel = this->config().decode(kernel_.layout, kernel_.component_values());
    return int8_conv(x, kernel.values, kernel.scale, *input_rounding, this->strides_,
                     padding_named(this->padding_), this->dilation_);
  }

  QuantizedWeight kernel_{"kernel", {}};
};

template <int Axes>
class ConvTranspose final : public BaseConv<Axes> {
 public:
  ConvTranspose() { this->carry_mask_ = false; }
  static void describe(Schema<ConvTranspose>& s) {
    s.doc("Transposed convolution: each input element contributes to a window of the output.");
    BaseConv<Axes>::describe_sizes(s);
    BaseConv<Axes>::describe_padding(s, false);
    if (Axes == 3) BaseConv<Axes>::describe_data_format(s);
    s.field("output_padding", &ConvTranspose::output_padding_,
            "Extra size at one side of the output; null: derived from the strides.");
    if (Axes != 3) BaseConv<Axes>::describe_data_format(s);
    BaseConv<Axes>::describe_dilation(s);
    BaseConv<Axes>::describe_result_and_weights(s);
  }
  void configured() override {
    BaseConv<Axes>::configured();
    if (!output_padding_) return;
    output_padding_ = per_axis(*output_padding_, Axes, "output_padding");
    for (int i = 0; i < Axes; ++i)
      if ((*output_padding_)[i] >= this->strides_[i])
        fail("output_padding ", Value(*output_padding_), " must be less than strides ",
             Value(this->strides_));
  }

 protected:
  Shape kernel_shape(int64_t channels) const override {
    Shape shape(this->kernel_size_);
    shape.append(this->filters_);
    shape.append(channels);
    return shape;
  }
  void add_kernel(const Shape& shape) override {
    kernel_ = this->add_weight("kernel", shape, this->kernel_rules_);
  }
  Tensor convolution(const Tensor& x) const override {
    return ops::conv_transpose(x, kernel_, this->strides_, padding_named(this->padding_),
                               this->dilation_, output_padding_.value_or(std::vector<int64_t>{}));
  }

 private:
  Variable kernel_;
  std::optional<std::vector<int64_t>> output_padding_;
};

}  // namespace

CRESCENT_REGISTER(convolution) {
  registry.add<ConvLayer<1>>("Conv1D", {"Convolution1D"});
  registry.add<ConvLayer<2>>("Conv2D", {"Convolution2D"});
  registry.add<ConvLayer<3>>("Conv3D", {"Convolution3D"});
  registry.add<ConvTranspose<1>>("Conv1DTranspose", {"Convolution1DTranspose"});
  registry.add<ConvTranspose<2>>("Conv2DTranspose", {"Convolution2DTranspose", "Deconvolution2D"});
  registry.add<ConvTranspose<3>>("Conv3DTranspose", {"Convolution3DTranspose", "Deconvolution3D"});
}

}  // namespace crescent

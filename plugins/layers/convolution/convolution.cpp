#include "convolution.h"

#include "../lora.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

constexpr const char* kDoc[] = {
    "", "Convolution over steps: (batch, steps, channels) -> (batch, new steps, filters).",
    "Convolution over images: (batch, rows, columns, channels) -> (batch, new rows, new columns, "
    "filters).",
    "Convolution over volumes: (batch, three axes, channels) -> (batch, three axes, filters)."};

template <int Axes>
class ConvLayer final : public LoraLayer<BaseConv<Axes>> {
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
    BaseConv<Axes>::describe_rest(s);
    s.keyword_only(true);
    ConvLayer::describe_lora(s);
    s.keyword_only(false);
    BaseConv<Axes>::describe_mask(s);
  }
  void build(const Shape& input) override {
    BaseConv<Axes>::build(input);
    this->build_lora();
  }

 protected:
  const Variable& adapted_weight() const override { return this->kernel_; }
  const WeightRules& adapted_rules() const override { return this->kernel_rules_; }
  Shape kernel_shape(int64_t channels) const override {
    Shape shape(this->kernel_size_);
    shape.append(channels / this->groups_);
    shape.append(this->filters_);
    return shape;
  }
  Tensor convolution(const Tensor& x) const override {
    return this->convolved(x, this->adapted_value(x.dtype()), this->groups_);
  }
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
    BaseConv<Axes>::describe_rest(s);
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
  Tensor convolution(const Tensor& x) const override {
    return ops::conv_transpose(x, this->kernel_, this->strides_, padding_named(this->padding_),
                               this->dilation_, output_padding_.value_or(std::vector<int64_t>{}));
  }

 private:
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

#include "quantizers.h"

#include <algorithm>

#include "crescent/ops/arguments.h"
#include "crescent/registry/registration.h"
#include "quantized_product.h"

namespace crescent {
namespace {

/// The quantizer that an option contains, as an AbsMaxQuantizer; null if the option is null.
const AbsMaxQuantizer* as_abs_max_quantizer(const Ref<Quantizer>& quantizer_option,
                                            const char* option) {
  if (!quantizer_option) return nullptr;
  const auto* quantizer = dynamic_cast<const AbsMaxQuantizer*>(quantizer_option.get());
  if (!quantizer)
    fail(option, ": expected an AbsMaxQuantizer, got ", serialize(quantizer_option.get()));
  return quantizer;
}

std::optional<AbsMax> range_of(const AbsMaxQuantizer* quantizer) {
  return quantizer ? std::optional(quantizer->range()) : std::nullopt;
}

/// Weights as int8, with one scale for each combination of indices of the axes over which the
/// product does not sum (usually the columns).
class Int8QuantizationConfig final : public QuantizationConfig {
 public:
  static void describe(Schema<Int8QuantizationConfig>& s) {
    s.doc("8-bit weights with a scale for each column; inputs are quantized too.")
        .field("weight_quantizer", &Int8QuantizationConfig::weight_quantizer_,
               "Quantizer of the weights; null: AbsMaxQuantizer over the axes that are summed.")
        .field("activation_quantizer", &Int8QuantizationConfig::activation_quantizer_,
               "Quantizer of the inputs; null: inputs are not quantized.")
        .property("mode", &Int8QuantizationConfig::mode, "\"int8\".");
  }
  void configured() override {
    as_abs_max_quantizer(weight_quantizer_, "weight_quantizer"), input_rounding();
  }
  std::string mode() const override { return "int8"; }
  std::string quantization() const override { return mode(); }
  std::optional<AbsMax> input_rounding() const override {
    return range_of(as_abs_max_quantizer(activation_quantizer_, "activation_quantizer"));
  }
  QuantizedComponents components(const QuantizedLayout& layout) const override {
    return {{"", layout.shape, DType::int8}, {"_scale", layout.scale_shape}};
  }
  Tensors encode(const QuantizedLayout& layout, const Tensor& floats) const override {
    const AbsMaxQuantizer* quantizer = as_abs_max_quantizer(weight_quantizer_, "weight_quantizer");
    if (quantizer) quantizer->check_axes(layout);
    const Quantized result = range_of(quantizer).value_or(AbsMax())(floats, layout.summed_axes);
    return {result.values, layout.as_scale(result.scale)};
  }
  Quantized decode(const QuantizedLayout&, const Tensors& component_values) const override {
    return {component_values[0], component_values[1]};
  }
  Tensor product(const std::string& equation, const Tensor& x, const QuantizedLayout& layout,
                 const Tensors& component_values) const override {
    return product_of_decoded(*this, equation, x, layout, component_values);
  }
  Tensor rows(const QuantizedLayout&, const Tensors& component_values, const Tensor& ids,
              DType dtype) const override {
    const Tensor values = apply1(Gather(), {component_values[0], ids}),
                 scale = apply1(Gather(), {component_values[1], ids});
    return ops::cast(values, dtype) / ops::expand_dims(ops::cast(scale, dtype), -1);
  }

 private:
  Ref<Quantizer> weight_quantizer_, activation_quantizer_ = "default";
};

}  // namespace

void AbsMaxQuantizer::describe(Schema<AbsMaxQuantizer>& s) {
  s.doc("Scales the largest magnitude along some axes to the end of a range of integers.")
      .field("axis", &AbsMaxQuantizer::axis_,
             "Axes whose elements share a scale; null: the axes that the layer sums over.")
      .omit_null()
      .field("value_range", &AbsMaxQuantizer::value_range_, "Smallest and largest integer.")
      .field("epsilon", &AbsMaxQuantizer::epsilon_, "Added to the largest magnitude.")
      .min(0)
      .field("output_dtype", &AbsMaxQuantizer::output_dtype_, "Dtype of the integers.")
      .choices({"int8"})
      .method("call", &AbsMaxQuantizer::call,
              "The integers, and the scale by which x is multiplied.")
      .arg("x", "The numbers.")
      .arg("axis", "Axes whose elements share a scale; nil: the option axis, else the last.",
           Value());
}

Tensors AbsMaxQuantizer::call(const Tensor& x,
                              const std::optional<std::vector<int64_t>>& axis) const {
  const std::vector<int64_t> wanted_axes = axis ? *axis : axis_.value_or(std::vector<int64_t>{-1});
  std::vector<int> axes;
  for (int64_t wanted_axis : wanted_axes) axes.push_back(ops::axis_of(x, wanted_axis));
  const Quantized result = range()(x, axes);
  return {result.values, result.scale};
}

void AbsMaxQuantizer::configured() {
  constexpr int64_t kLow = -128, kHigh = 127;
  if (value_range_.size() != 2 || value_range_[0] < kLow || value_range_[1] > kHigh ||
      value_range_[0] > 0 || value_range_[1] < 1)
    fail("value_range: expected a smallest integer from ", kLow, " to 0 and a largest from 1 to ",
         kHigh, ", got ", Codec<std::vector<int64_t>>::encode(value_range_));
}

void AbsMaxQuantizer::check_axes(const QuantizedLayout& layout) const {
  if (!axis_) return;
  const int rank = layout.shape.rank();
  std::vector<int> axes;
  for (int64_t axis : *axis_) axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  std::sort(axes.begin(), axes.end());
  if (axes != layout.summed_axes)
    fail(
        "weight_quantizer: expected the axes that the layer sums along, ",
        Codec<std::vector<int64_t>>::encode({layout.summed_axes.begin(), layout.summed_axes.end()}),
        ", got ", Codec<std::vector<int64_t>>::encode(*axis_));
}

CRESCENT_REGISTER(quantizers) {
  registry.add<AbsMaxQuantizer>("AbsMaxQuantizer", {"abs_max_quantizer", "default"});
  registry.add<Int8QuantizationConfig>("Int8QuantizationConfig", {"int8"});
}

}  // namespace crescent

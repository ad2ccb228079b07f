// The kind "quantizer": classes that round numbers to integers, and configurations of the quantized
// weights of layers.
#pragma once
#include "crescent/device/quantized_op_types.h"
#include "quantized_layout.h"

namespace crescent {

class Quantizer : public Plain {
 public:
  static constexpr const char* kKind = "quantizer";
};

class AbsMaxQuantizer final : public Quantizer {
 public:
  static void describe(Schema<AbsMaxQuantizer>& s);
  void configured() override;
  /// Returns the integers and the scale of x. Elements along `axis` share a scale. If the argument
  /// is missing, the option `axis` is used or, without this option, the last axis.
  Tensors call(const Tensor& x, const std::optional<std::vector<int64_t>>& axis) const;
  AbsMax range() const { return {value_range_[0], value_range_[1], epsilon_}; }
  /// Fails unless the quantizer's axes are those along which weights of the layout are summed.
  void check_axes(const QuantizedLayout& layout) const;

 private:
  std::optional<std::vector<int64_t>> axis_;
  std::vector<int64_t> value_range_{-127, 127};
  double epsilon_ = 1e-7;
  std::string output_dtype_ = "int8";
};

/// A configuration of how layers quantize weights and round inputs.
class QuantizationConfig : public Quantizer {
 public:
  virtual std::string mode() const = 0;  ///< such as "int4"
  /// The text before "_from_" in a dtype policy: "int4/128".
  virtual std::string quantization() const = 0;
  /// The rounding of inputs; nullopt if they stay floats.
  virtual std::optional<AbsMax> input_rounding() const = 0;
  /// The variables that store a quantized weight: integers, a scale, perhaps others.
  virtual QuantizedComponents components(const QuantizedLayout& layout) const = 0;
  /// Returns the values of these variables for a weight with the values `floats`, which has the
  /// shape of the layout.
  virtual Tensors encode(const QuantizedLayout& layout, const Tensor& floats) const = 0;
  /// The weight that variables with the values `component_values` store: as int8 with the shape of
  /// the layout and a scale of scale_shape, or as floats without a scale.
  virtual Quantized decode(const QuantizedLayout& layout,
                           const Tensors& component_values) const = 0;
  /// The result of the einsum equation for x and the weight that variables with the values
  /// `component_values` store.
  virtual Tensor product(const std::string& equation, const Tensor& x,
                         const QuantizedLayout& layout, const Tensors& component_values) const = 0;
  /// The rows of a table that have the indices `ids`, as floats of type `dtype`.
  virtual Tensor rows(const QuantizedLayout& layout, const Tensors& component_values,
                      const Tensor& ids, DType dtype) const = 0;
  /// The dtype policy of a layer that is quantized by this configuration and had the policy
  /// `old_policy`.
  inline DTypePolicy policy_from(const DTypePolicy& old_policy) const;
  /// The default configuration for a dtype policy such as "int4/128_from_float32".
  static inline std::shared_ptr<QuantizationConfig> for_policy(const DTypePolicy& policy);
};

DTypePolicy QuantizationConfig::policy_from(const DTypePolicy& old_policy) const {
  constexpr std::string_view kSourcePrefix = "_from_";
  const size_t prefix_position = old_policy.name.find(kSourcePrefix);
  const size_t source_position =
      prefix_position == std::string::npos ? 0 : prefix_position + kSourcePrefix.size();
  return DTypePolicy::named(
      concat(quantization(), kSourcePrefix, old_policy.name.substr(source_position)));
}

std::shared_ptr<QuantizationConfig> QuantizationConfig::for_policy(const DTypePolicy& policy) {
  const Value encoded = Codec<DTypePolicy>::encode(policy);
  if (!encoded.is_dict()) return nullptr;
  const std::string text = encoded.as_dict().at("config").as_dict().at("mode").as_string();
  const size_t slash_position = text.find('/');
  const std::string mode = text.substr(0, slash_position);
  if (!registry().find(kKind, mode))
    fail("dtype \"", policy.name, "\": weights of mode ", mode,
         " are not supported; expected int8 ", "or int4");
  Dict options;
  if (mode == "int4")
    options.set("block_size", slash_position == text.npos
                                  ? Value(-1)
                                  : parse_json(text.substr(slash_position + 1)));
  return std::dynamic_pointer_cast<QuantizationConfig>(make_object(kKind, mode, options));
}

}  // namespace crescent

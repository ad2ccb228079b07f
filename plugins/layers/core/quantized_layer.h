// Layers that can quantize their largest weight, with adapters (../lora.h) or without.
#pragma once
#include "../lora.h"
#include "quantized_product.h"

namespace crescent {

/// A weight, stored as floats or as the variables of its quantized form.
struct QuantizedWeight {
  std::string name;
  QuantizedLayout layout;
  Variables parts{};

  const Variable& values() const { return parts.front(); }
  Tensors values_of_parts() const { return {parts.begin(), parts.end()}; }
};

class QuantizableLayer : public LoraLayer<UnaryLayer> {
 public:
  void configured() override;
  /// Quantizes the weights, which cannot be trained from then on.
  void quantize(const Value& mode_or_config, const Value& config);

 protected:
  template <class T>
  static void describe_quantization(Schema<T>& s) {
    s.field("quantization_config", &QuantizableLayer::quantization_option_,
            "How the weight is quantized if the dtype policy quantizes it, such as "
            "\"int8_from_float32\"; null: as the mode of the policy says.")
        .omit_null()
        .method("quantize", &QuantizableLayer::quantize,
                "Quantizes the largest weight and freezes it.")
        .arg("mode", "\"int8\" or \"int4\", or a configuration of that mode.", "")
        .arg("config", "A configuration of cr.quantizers; null: the default of the mode.", Value());
  }
  bool is_quantized() const { return config_ != nullptr; }
  /// Adds a weight as floats or in quantized form; called by build().
  void add_quantizable(QuantizedWeight& weight, const WeightRules& rules);
  /// The product of x and a quantized weight according to an einsum equation.
  Tensor product(const std::string& equation, const Tensor& x, const QuantizedWeight& weight) const;
  /// The rows of a quantized table with these indices.
  Tensor rows(const QuantizedWeight& table, const Tensor& ids) const;

  const Variable& adapted_weight() const override;
  Shape adapted_shape() const override { return quantizable_.front()->layout.shape; }
  Variables adapted_variables() const override { return quantizable_.front()->parts; }
  Tensors merged_values() const override;
  double rounding_of_merge() const override;

 private:
  void add_parts(QuantizedWeight& weight);
  Tensor floats(const QuantizedWeight& weight) const;
  Tensor decoded(const QuantizedWeight& weight, const Tensors& parts) const;
  Tensor merged_floats() const;

  Ref<Quantizer> quantization_option_;
  std::shared_ptr<QuantizationConfig> config_;  ///< null if the weights are floats
  /// pointers to the members of the layer that are weights which can be quantized; the first is the
  /// weight that can have an adapter
  std::vector<QuantizedWeight*> quantizable_;
};

}  // namespace crescent

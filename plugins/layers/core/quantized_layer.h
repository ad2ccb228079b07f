// Layers that can keep their largest weight in few bits, with adapters (../lora.h) or without.
#pragma once
#include "../lora.h"
#include "quantized_product.h"

namespace crescent {

/// A weight as floats, or as the variables that a configuration keeps it in.
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
  /// Keeps weights in few bits from now on, frozen.
  void quantize(const std::string& mode, const Value& config);

 protected:
  template <class T>
  static void describe_quantization(Schema<T>& s) {
    s.field(
         "quantization_config", &QuantizableLayer::given_,
         "How the weight is kept when the dtype says in few bits, as \"int8_from_float32\" does; "
         "null: as the dtype's mode has it.")
        .omit_null()
        .method("quantize", &QuantizableLayer::quantize,
                "Keeps the largest weight in few bits from now on, frozen.")
        .arg("mode", "\"int8\" or \"int4\"; empty: that of the configuration.", "")
        .arg("config", "How, of cr.quantizers; null: as the mode has it.", Value());
  }
  bool is_quantized() const { return config_ != nullptr; }
  /// A step of build: floats, or what is quantized.
  void add_quantizable(QuantizedWeight& weight, const WeightRules& rules);
  /// x and a quantized weight in an equation.
  Tensor product(const std::string& equation, const Tensor& x, const QuantizedWeight& weight) const;
  /// Rows of a table.
  Tensor rows(const QuantizedWeight& table, const Tensor& ids) const;

  const Variable& adapted() const override;
  Shape adapted_shape() const override { return quantizable_.front()->layout.shape; }
  Variables adapted_variables() const override { return quantizable_.front()->parts; }
  Tensors merged_values() const override;

 private:
  void add_parts(QuantizedWeight& weight);
  Tensor floats(const QuantizedWeight& weight) const;

  Ref<Quantizer> given_;
  std::shared_ptr<QuantizationConfig> config_;  ///< null: floats
  std::vector<QuantizedWeight*> quantizable_;   ///< members of the layer; an adapter's first
};

}  // namespace crescent

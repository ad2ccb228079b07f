// Layers that can quantize their largest weight, with adapters (../lora.h) or without.
#pragma once
#include "../lora.h"
#include "quantized_product.h"

namespace crescent {

/// A weight, stored as floats or as the variables of its quantized form.
struct QuantizedWeight {
  std::string name;
  QuantizedLayout layout;
  Variables variables{};

  const Variable& values() const { return variables.front(); }
  Tensors component_values() const { return {variables.begin(), variables.end()}; }
};

/// A layer of class Base whose largest weight can be quantized.
template <class Base>
class QuantizableLayerOf : public LoraLayer<Base> {
 public:
  void configured() override;
  /// Quantizes the weights, which cannot be trained from then on.
  void quantize(const Value& mode_or_config, const Value& config);

 protected:
  template <class T>
  static void describe_quantization(Schema<T>& s) {
    describe_config(s,
                    "How the weight is quantized if the dtype policy quantizes it, such as "
                    "\"int8_from_float32\"; null: as the mode of the policy says.");
    describe_quantize(s, &QuantizableLayerOf::quantize);
  }
  template <class T>
  static void describe_config(Schema<T>& s, const char* doc) {
    s.field("quantization_config", &QuantizableLayerOf::quantization_option_, doc).omit_null();
  }
  template <class T, class F>
  static void describe_quantize(Schema<T>& s, F quantize) {
    s.method("quantize", quantize, "Quantizes the largest weight and freezes it.")
        .arg("mode", "\"int8\" or \"int4\", or a configuration of that mode.", "")
        .arg("config", "A configuration of cr.quantizers; null: the default of the mode.", Value());
  }
  /// Whether the dtype policy alone quantizes the layer; else it also needs a configuration.
  virtual bool is_quantized_by_policy() const { return true; }
  /// Fails if the layer cannot be quantized by the configuration.
  virtual void check_config(const QuantizationConfig&) const {}
  bool is_quantized() const { return config_ != nullptr; }
  const QuantizationConfig& config() const { return *config_; }
  /// Adds a weight as floats or in quantized form; called by build().
  void add_quantizable(QuantizedWeight& weight, const WeightRules& rules);
  /// The product of x and a quantized weight according to an einsum equation.
  Tensor product(const std::string& equation, const Tensor& x,
                 const QuantizedWeight& weight) const {
    return config_->product(equation, x, weight.layout, weight.component_values());
  }
  /// The values of the weight as floats, decoded if the weight is quantized.
  Tensor floats(const QuantizedWeight& weight) const;
  /// The rows of a quantized table with these indices.
  Tensor rows(const QuantizedWeight& table, const Tensor& ids) const {
    if (!is_quantized()) return apply1(Gather(), {table.values().value(), ids});
    return config_->rows(table.layout, table.component_values(), ids, this->compute_dtype());
  }

  const Variable& adapted_weight() const override;
  Shape adapted_shape() const override { return quantizable_.front()->layout.shape; }
  Variables adapted_variables() const override { return quantizable_.front()->variables; }
  Tensors merged_values() const override;
  double rounding_of_merge() const override;

 private:
  void add_components(QuantizedWeight& weight);
  Tensor decoded_floats(const QuantizedWeight& weight, const Tensors& component_values) const;
  Tensor merged_floats() const;

  Ref<Quantizer> quantization_option_;
  std::shared_ptr<QuantizationConfig> config_;  ///< null if the weights are floats
  /// pointers to the members of the layer that are weights which can be quantized; the first is the
  /// weight that can have an adapter
  std::vector<QuantizedWeight*> quantizable_;
};

using QuantizableLayer = QuantizableLayerOf<UnaryLayer>;

/// Converts a quantizer to a configuration; fails if its class is not a configuration.
inline std::shared_ptr<QuantizationConfig> as_config(
    const std::shared_ptr<Quantizer>& given_quantizer) {
  auto config = std::dynamic_pointer_cast<QuantizationConfig>(given_quantizer);
  if (!config)
    fail("quantization_config: expected one such as Int8QuantizationConfig, got ",
         serialize(given_quantizer.get()));
  return config;
}

template <class Base>
void QuantizableLayerOf<Base>::configured() {
  LoraLayer<Base>::configured();
  if (!quantization_option_ && !is_quantized_by_policy()) return;
  config_ = QuantizationConfig::for_policy(this->policy_);
  if (!quantization_option_) return;
  const auto given_config = as_config(quantization_option_.shared());
  if (config_ && given_config->mode() != config_->mode())
    fail("quantization_config is of mode ", given_config->mode(), ", the dtype policy ",
         this->policy_.name);
  check_config(*given_config);
  if (config_) config_ = given_config;
}

template <class Base>
void QuantizableLayerOf<Base>::add_quantizable(QuantizedWeight& weight, const WeightRules& rules) {
  quantizable_.push_back(&weight);
  if (is_quantized()) return add_components(weight);
  weight.variables = {this->add_weight(weight.name, weight.layout.shape, rules)};
}

template <class Base>
void QuantizableLayerOf<Base>::add_components(QuantizedWeight& weight) {
  weight.variables.clear();
  for (const QuantizedComponent& component : config_->components(weight.layout)) {
    const std::string name =
        component.is_own_name ? component.ending : weight.name + component.ending;
    const char* initializer = component.ending == "_scale" ? "ones" : "zeros";
    weight.variables.push_back(
        this->add_weight(name, component.shape, initializer,
                         {.trainable = false, .dtype = component.dtype, .autocast = false}));
  }
}

template <class Base>
void QuantizableLayerOf<Base>::quantize(const Value& mode_or_config, const Value& config_value) {
  const bool has_config_only = !mode_or_config.is_string() && config_value.is_null();
  const std::string mode = has_config_only ? "" : mode_or_config.as_string();
  const Value config = has_config_only ? mode_or_config : config_value;
  if (quantizable_.empty())
    fail_in_layer(this->name_, "Cannot quantize a layer that isn't yet built. Layer '", this->name_,
                  "' (of type '", this->class_name(), "') is not built yet.");
  if (is_quantized())
    fail_in_layer(this->name_, "Layer '", this->name_, "' is already quantized with dtype_policy='",
                  this->policy_.name, "'. Received: mode=", mode);
  auto new_config = as_config(get<Quantizer>(config.is_null() ? Value(mode) : config));
  if (!mode.empty() && mode != new_config->mode())
    fail("Contradictory arguments: mode='", mode, "' but config.mode='", new_config->mode(), "'");
  check_config(*new_config);
  const DTypePolicy policy = new_config->policy_from(this->policy_);
  std::vector<Tensors> encoded_weights;
  for (const QuantizedWeight* weight : quantizable_)
    encoded_weights.push_back(new_config->encode(weight->layout, weight->values()));
  this->policy_ = policy, config_ = new_config, quantization_option_ = Ref<Quantizer>(new_config);
  for (size_t i = 0; i < quantizable_.size(); ++i) {
    add_components(*quantizable_[i]);
    for (size_t j = 0; j < encoded_weights[i].size(); ++j)
      quantizable_[i]->variables[j].assign(encoded_weights[i][j]);
  }
  this->structure_changed();
}

template <class Base>
Tensor QuantizableLayerOf<Base>::floats(const QuantizedWeight& weight) const {
  return is_quantized() ? decoded_floats(weight, weight.component_values())
                        : weight.values().value();
}

/// The values of the weight as floats, decoded from `component_values`, the values of its
/// variables.
template <class Base>
Tensor QuantizableLayerOf<Base>::decoded_floats(const QuantizedWeight& weight,
                                                const Tensors& component_values) const {
  const Quantized stored_weight = config_->decode(weight.layout, component_values);
  if (!stored_weight.scale) return stored_weight.values;
  return ops::cast(stored_weight.values, stored_weight.scale.dtype()) /
         weight.layout.scale_of_values(stored_weight.scale);
}

template <class Base>
const Variable& QuantizableLayerOf<Base>::adapted_weight() const {
  static const Variable no_weight;
  return quantizable_.empty() ? no_weight : quantizable_.front()->values();
}

template <class Base>
Tensor QuantizableLayerOf<Base>::merged_floats() const {
  return floats(*quantizable_.front()) + this->adapter()->weight_term();
}

template <class Base>
Tensors QuantizableLayerOf<Base>::merged_values() const {
  const Tensor merged_kernel = merged_floats();
  return is_quantized() ? config_->encode(quantizable_.front()->layout, merged_kernel)
                        : Tensors{merged_kernel};
}

template <class Base>
double QuantizableLayerOf<Base>::rounding_of_merge() const {
  if (!is_quantized()) return 0;
  const Tensor rounded_kernel = decoded_floats(*quantizable_.front(), merged_values());
  return ops::max(ops::abs(rounded_kernel - merged_floats())).item();
}

}  // namespace crescent

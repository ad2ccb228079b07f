#include "quantized_layer.h"

namespace crescent {
namespace {

/// Converts a quantizer to a configuration; fails if its class is not a configuration.
std::shared_ptr<QuantizationConfig> as_config(const std::shared_ptr<Quantizer>& given) {
  auto config = std::dynamic_pointer_cast<QuantizationConfig>(given);
  if (!config)
    fail("quantization_config: expected one such as Int8QuantizationConfig, got ",
         serialize(given.get()));
  return config;
}

}  // namespace

void QuantizableLayer::configured() {
  LoraLayer::configured();
  config_ = QuantizationConfig::for_policy(policy_);
  if (!quantization_option_) return;
  const auto given = as_config(quantization_option_.shared());
  if (config_ && given->mode() != config_->mode())
    fail("quantization_config is of mode ", given->mode(), ", the dtype policy ", policy_.name);
  if (config_) config_ = given;
}

void QuantizableLayer::add_quantizable(QuantizedWeight& weight, const WeightRules& rules) {
  quantizable_.push_back(&weight);
  if (is_quantized()) return add_parts(weight);
  weight.parts = {add_weight(weight.name, weight.layout.shape, rules)};
}

void QuantizableLayer::add_parts(QuantizedWeight& weight) {
  weight.parts.clear();
  for (const QuantizedComponent& part : config_->parts(weight.layout)) {
    const std::string name = part.is_own_name ? part.ending : weight.name + part.ending;
    const char* initializer = part.ending == "_scale" ? "ones" : "zeros";
    weight.parts.push_back(
        add_weight(name, part.shape, initializer,
                   {.trainable = false, .dtype = part.dtype, .autocast = false}));
  }
}

void QuantizableLayer::quantize(const Value& mode_or_config, const Value& given) {
  const bool says_mode = !mode_or_config.is_string() && given.is_null();
  const std::string mode = says_mode ? "" : mode_or_config.as_string();
  const Value config = says_mode ? mode_or_config : given;
  if (quantizable_.empty())
    fail_in_layer(name_, "Cannot quantize a layer that isn't yet built. Layer '", name_,
                  "' (of type '", class_name(), "') is not built yet.");
  if (is_quantized())
    fail_in_layer(name_, "Layer '", name_, "' is already quantized with dtype_policy='",
                  policy_.name, "'. Received: mode=", mode);
  auto wanted = as_config(get<Quantizer>(config.is_null() ? Value(mode) : config));
  if (!mode.empty() && mode != wanted->mode())
    fail("Contradictory arguments: mode='", mode, "' but config.mode='", wanted->mode(), "'");
  const DTypePolicy policy =
      DTypePolicy::named(concat(wanted->quantization(), "_from_", policy_.name));
  std::vector<Tensors> encoded;
  for (const QuantizedWeight* weight : quantizable_)
    encoded.push_back(wanted->encoded(weight->layout, weight->values()));
  policy_ = policy, config_ = wanted, quantization_option_ = Ref<Quantizer>(wanted);
  for (size_t i = 0; i < quantizable_.size(); ++i) {
    add_parts(*quantizable_[i]);
    for (size_t j = 0; j < encoded[i].size(); ++j) quantizable_[i]->parts[j].assign(encoded[i][j]);
  }
  structure_changed();
}

Tensor QuantizableLayer::floats(const QuantizedWeight& weight) const {
  return is_quantized() ? decoded(weight, weight.values_of_parts()) : weight.values().value();
}

/// The numbers that stored parts of the weight stand for.
Tensor QuantizableLayer::decoded(const QuantizedWeight& weight, const Tensors& parts) const {
  const Quantized kept = config_->decoded(weight.layout, parts);
  if (!kept.scale) return kept.values;
  return ops::cast(kept.values, kept.scale.dtype()) / weight.layout.scale_of_values(kept.scale);
}

Tensor QuantizableLayer::product(const std::string& equation, const Tensor& x,
                                 const QuantizedWeight& weight) const {
  return config_->product(equation, x, weight.layout, weight.values_of_parts());
}

Tensor QuantizableLayer::rows(const QuantizedWeight& table, const Tensor& ids) const {
  if (!is_quantized()) return apply1(Gather(), {table.values().value(), ids});
  return config_->rows(table.layout, table.values_of_parts(), ids, compute_dtype());
}

const Variable& QuantizableLayer::adapted_weight() const {
  static const Variable none;
  return quantizable_.empty() ? none : quantizable_.front()->values();
}

Tensor QuantizableLayer::merged_floats() const {
  return floats(*quantizable_.front()) + adapter()->weight_term();
}

Tensors QuantizableLayer::merged_values() const {
  const Tensor merged = merged_floats();
  return is_quantized() ? config_->encoded(quantizable_.front()->layout, merged) : Tensors{merged};
}

double QuantizableLayer::rounding_of_merge() const {
  if (!is_quantized()) return 0;
  const Tensor rounded = decoded(*quantizable_.front(), merged_values());
  return ops::max(ops::abs(rounded - merged_floats())).item();
}

}  // namespace crescent

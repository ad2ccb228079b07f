#include "crescent/model/quantize.h"

#include <algorithm>

#include "crescent/base/pattern.h"
#include "layer/layer_access.h"

namespace crescent {
namespace {

constexpr const char *kQuantize = "quantize", *kCanBeInt8 = "can_be_int8";

/// Whether a wrapper around the layer, such as SpectralNormalization, computes the weights of the
/// layer.
bool has_computed_weights(const Layer& layer) {
  const std::vector<Layer*>& owners = LayerAccess::owners(layer);
  return std::any_of(owners.begin(), owners.end(), [](const Layer* owner) {
    return owner->info() && owner->info()->schema.traits.contains("computes_weights");
  });
}

/// Whether the layer is of a class that is quantized only on request.
bool is_convolution(const Layer& layer) {
  return layer.info() && layer.info()->schema.find_property(kCanBeInt8);
}

bool can_quantize(const Layer& layer) {
  return layer.info() && layer.info()->schema.find_method(kQuantize) &&
         !has_computed_weights(layer);
}

/// Whether quantizing a model with these options quantizes the layer.
bool is_selected(const Layer& layer, const QuantizeOptions& options) {
  if (!can_quantize(layer) || !is_convolution(layer)) return can_quantize(layer);
  return options.include_convolutions && layer.get_property(kCanBeInt8).as_bool();
}

void check_mode(const QuantizeOptions& options) {
  if (options.include_convolutions && !options.mode.empty() && options.mode != "int8")
    fail("quantize: convolutions are quantized to int8 only, got ", options.mode);
  if (!options.config.is_null()) return;
  if (options.mode.empty()) fail("You must provide either `mode` or `config` to `quantize`.");
  if (!registry().find("quantizer", options.mode))
    fail("Invalid quantization mode. Expected one of ('int8', 'int4'). Received: mode=",
         options.mode);
}

using Layers = std::vector<Layer*>;

/// Returns the layers whose names match one of the patterns; warns of each pattern that matches no
/// layer.
Layers layers_matching(const std::vector<std::string>& patterns, const Layers& layers) {
  Layers matching_layers;
  std::vector<std::string> names;
  for (const Layer* layer : layers) names.push_back(layer->name());
  std::vector<bool> is_matching(layers.size());
  for (const std::string& pattern_text : patterns) {
    const Pattern pattern(pattern_text, "quantize: filters");
    bool any_match = false;
    for (size_t i = 0; i < layers.size(); ++i)
      if (pattern.found_in(names[i])) any_match = is_matching[i] = true;
    if (!any_match)
      warn("quantize: filters: '", pattern_text,
           "' is not in the name of any layer that can be quantized",
           did_you_mean(pattern_text, names), "; there are: ", join(names));
  }
  for (size_t i = 0; i < layers.size(); ++i)
    if (is_matching[i]) matching_layers.push_back(layers[i]);
  return matching_layers;
}

Layers chosen_layers(const QuantizeOptions& options, Layers layers) {
  if (options.names) layers = layers_matching(*options.names, layers);
  if (options.filter) std::erase_if(layers, [&](Layer* layer) { return !options.filter(*layer); });
  return layers;
}

}  // namespace

std::optional<std::string> quantization_mode(const Layer& layer) {
  const Value policy = Codec<DTypePolicy>::encode(layer.policy());
  if (!policy.is_dict()) return std::nullopt;
  const std::string mode = policy.as_dict().at("config").as_dict().at("mode").as_string();
  return mode.substr(0, mode.find('/'));
}

void quantize_layer(Layer& layer, const QuantizeOptions& options) {
  check_mode(options);
  if (!can_quantize(layer))
    fail_in_layer(layer.name(), "Layer ", layer.class_name(),
                  " does not have a `quantize` method implemented.");
  Dict arguments{{"mode", options.mode}, {"config", options.config}};
  if (is_convolution(layer)) arguments.set("convolutions", options.include_convolutions);
  layer.call_method(kQuantize, arguments);
}

void quantize_model(Model& model, const QuantizeOptions& options) {
  check_mode(options);
  if (!model.built())
    fail_in_layer(model.name(), "Cannot quantize a layer that isn't yet built. Layer '",
                  model.name(), "' (of type '", model.class_name(), "') is not built yet.");
  Layers layers = model.flatten_layers();
  std::erase_if(layers, [&](const Layer* layer) { return !is_selected(*layer, options); });
  for (Layer* layer : chosen_layers(options, std::move(layers))) quantize_layer(*layer, options);
}

}  // namespace crescent

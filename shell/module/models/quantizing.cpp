#include "models/quantizing.h"

#include <algorithm>

#include "classes/options.h"
#include "crescent/base/pattern.h"
#include "values/function.h"

namespace crescent::lua {
namespace {

constexpr const char* kQuantize = "quantize";

bool can_quantize(const Layer& layer) {
  return layer.info() && layer.info()->schema.find_method(kQuantize);
}

void check_mode(const std::string& mode, const Value& config) {
  if (mode.empty() && config.is_null())
    fail("You must provide either `mode` or `config` to `quantize`.");
  if (config.is_null() && !registry().find("quantizer", mode))
    fail("Invalid quantization mode. Expected one of ('int8', 'int4'). Received: mode=", mode);
}

bool says_yes(const ValueFunction& function, const Layer& layer) {
  const auto object = std::const_pointer_cast<Object>(layer.shared_from_this());
  const Value answer = function({Value(object)});
  return !answer.is_null() && !(answer == Value(false));
}

using Layers = std::vector<Layer*>;

/// Those whose names one of the patterns is found in. A pattern that is found in none is a mistake.
Layers named_like(const std::vector<std::string>& patterns, const Layers& layers) {
  Layers chosen;
  std::vector<std::string> names;
  for (const Layer* layer : layers) names.push_back(layer->name());
  std::vector<bool> found(layers.size());
  for (const std::string& text : patterns) {
    const Pattern pattern(text, "quantize: filters");
    bool any = false;
    for (size_t i = 0; i < layers.size(); ++i)
      if (pattern.found_in(names[i])) any = found[i] = true;
    if (!any)
      fail("quantize: filters: '", text, "' is not in the name of any layer that can be quantized",
           did_you_mean(text, names), "; there are: ", join(names));
  }
  for (size_t i = 0; i < layers.size(); ++i)
    if (found[i]) chosen.push_back(layers[i]);
  return chosen;
}

/// Of these layers, those that `filters`, a function or patterns, lets through.
Layers chosen_by(Any filters, Layers layers) {
  lua_State* L = current();
  if (lua_isnoneornil(L, filters.index)) return layers;
  if (!lua_isfunction(L, filters.index))
    return named_like(Codec<std::vector<std::string>>::decode(to_value(L, filters.index)), layers);
  const ValueFunction function = function_at(filters.index);
  std::erase_if(layers, [&](const Layer* layer) { return !says_yes(function, *layer); });
  return layers;
}

}  // namespace

std::optional<std::string> quantization_mode(const Layer& layer) {
  const Value policy = Codec<DTypePolicy>::encode(layer.policy());
  if (!policy.is_dict()) return std::nullopt;
  const std::string mode = policy.as_dict().at("config").as_dict().at("mode").as_string();
  return mode.substr(0, mode.find('/'));
}

void quantize_layer(Layer& layer, std::optional<std::string> mode, const Value& given) {
  const Value config = adapted(given, "quantizer");
  check_mode(mode.value_or(""), config);
  if (!can_quantize(layer))
    fail_in_layer(layer.name(), "Layer ", layer.class_name(),
                  " does not have a `quantize` method implemented.");
  layer.call_method(kQuantize, {{"mode", mode.value_or("")}, {"config", config}});
}

void quantize_model(Model& model, std::optional<std::string> mode, const Value& given,
                    Any filters) {
  const Value config = adapted(given, "quantizer");
  check_mode(mode.value_or(""), config);
  if (!model.built())
    fail_in_layer(model.name(), "Cannot quantize a layer that isn't yet built. Layer '",
                  model.name(), "' (of type '", model.class_name(), "') is not built yet.");
  Layers layers = model.flatten_layers();
  std::erase_if(layers, [](const Layer* layer) { return !can_quantize(*layer); });
  for (Layer* layer : chosen_by(filters, std::move(layers))) quantize_layer(*layer, mode, config);
}

}  // namespace crescent::lua

#include "models/quantizing.h"

#include <algorithm>

#include "classes/options.h"
#include "crescent/pattern.h"
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

std::vector<Pattern> patterns_in(const Value& filters) {
  std::vector<Pattern> patterns;
  for (const std::string& text : Codec<std::vector<std::string>>::decode(filters))
    patterns.emplace_back(text, "quantize: filters");
  return patterns;
}

bool says_yes(const ValueFunction& function, const Layer& layer) {
  const auto object = std::const_pointer_cast<Object>(layer.shared_from_this());
  const Value answer = function({Value(object)});
  return !answer.is_null() && !(answer == Value(false));
}

std::function<bool(const Layer&)> chosen_by(Any filters) {
  lua_State* L = current();
  if (lua_isnoneornil(L, filters.index)) return [](const Layer&) { return true; };
  if (lua_isfunction(L, filters.index))
    return [function = function_at(filters.index)](const Layer& layer) {
      return says_yes(function, layer);
    };
  return [patterns = patterns_in(to_value(L, filters.index))](const Layer& layer) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const Pattern& pattern) { return pattern.found_in(layer.name()); });
  };
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
  const auto chosen = chosen_by(filters);
  const Value config = adapted(given, "quantizer");
  check_mode(mode.value_or(""), config);
  if (!model.built())
    fail_in_layer(model.name(), "Cannot quantize a layer that isn't yet built. Layer '",
                  model.name(), "' (of type '", model.class_name(), "') is not built yet.");
  std::vector<Layer*> layers = model.flatten_layers();
  std::erase_if(layers, [&](Layer* layer) { return !can_quantize(*layer) || !chosen(*layer); });
  for (Layer* layer : layers) quantize_layer(*layer, mode, config);
}

}  // namespace crescent::lua

#include "models/quantizing.h"

#include "classes/options.h"
#include "values/function.h"

namespace crescent::lua {
namespace {

QuantizeOptions quantize_options(std::optional<std::string> mode, const Value& config) {
  return {.mode = mode.value_or(""), .config = adapted(config, "quantizer")};
}

/// A filter that calls a function with a layer; nil and false exclude the layer.
std::function<bool(Layer&)> layer_filter(ValueFunction function) {
  return [function = std::move(function)](Layer& layer) {
    const Value answer = function({Value(layer.shared_from_this())});
    return !answer.is_null() && !(answer == Value(false));
  };
}

}  // namespace

void quantize_layer(Layer& layer, std::optional<std::string> mode, const Value& config) {
  crescent::quantize_layer(layer, quantize_options(std::move(mode), config));
}

void quantize_model(Model& model, std::optional<std::string> mode, const Value& config,
                    Any filters) {
  lua_State* L = current();
  QuantizeOptions options = quantize_options(std::move(mode), config);
  if (lua_isfunction(L, filters.index))
    options.filter = layer_filter(function_at(filters.index));
  else if (!lua_isnoneornil(L, filters.index))
    options.names = Codec<std::vector<std::string>>::decode(to_value(L, filters.index));
  crescent::quantize_model(model, options);
}

}  // namespace crescent::lua

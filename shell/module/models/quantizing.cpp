#include "models/quantizing.h"

#include "classes/options.h"
#include "values/function.h"

namespace crescent::lua {
namespace {

/// The options of quantize: the mode, or a configuration that contains the mode.
QuantizeOptions quantize_options(const Value& mode, const Value& config) {
  if (config.is_list() && config.as_list().empty()) return quantize_options(mode, {});
  if (mode.is_object() && config.is_null()) return quantize_options({}, mode);
  if (!mode.is_null() && !mode.is_string())
    fail("argument 'mode': expected a text or a configuration of cr.quantizers, got ", mode);
  return {.mode = mode.is_null() ? "" : mode.as_string(),
          .config = with_function_objects(config, "quantizer")};
}

/// A filter that calls a Lua function with each layer; nil and false exclude the layer.
std::function<bool(Layer&)> layer_filter(ValueFunction function) {
  return [function = std::move(function)](Layer& layer) {
    const Value answer = function({Value(layer.shared_from_this())});
    return !answer.is_null() && !(answer == Value(false));
  };
}

}  // namespace

void quantize_layer(Layer& layer, const Value& mode, const Value& config,
                    bool include_convolutions) {
  QuantizeOptions options = quantize_options(mode, config);
  options.include_convolutions = include_convolutions;
  crescent::quantize_layer(layer, options);
}

void quantize_model(Model& model, const Value& mode, const Value& config, Any filters,
                    bool include_convolutions) {
  lua_State* L = current();
  QuantizeOptions options = quantize_options(mode, config);
  options.include_convolutions = include_convolutions;
  if (lua_isfunction(L, filters.index))
    options.filter = layer_filter(function_at(filters.index));
  else if (!lua_isnoneornil(L, filters.index))
    options.names = Codec<std::vector<std::string>>::decode(to_value(L, filters.index));
  crescent::quantize_model(model, options);
}

}  // namespace crescent::lua

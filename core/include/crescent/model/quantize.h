// Large weights of layers in 8 bits or 4, frozen: layers that can be quantized have a method
// "quantize" in their schema.
//
//   quantize_model(*model, {.mode = "int8", .names = std::vector<std::string>{"dense", "embed"}});
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "crescent/model/model.h"

namespace crescent {

/// "int8" or "int4"; none for a layer that computes in floats.
CRESCENT_API std::optional<std::string> quantization_mode(const Layer& layer);

struct QuantizeOptions {
  std::string mode = {};  ///< "int8", "int4"; empty where `config` says it
  Value config = {};  ///< of a quantizer (a name, a configuration or an object); null: by the mode
  /// Of a model: the layers in whose names one of these regular expressions is found. Fails for an
  /// expression that is found in none of those that can be quantized.
  std::optional<std::vector<std::string>> names = {};
  /// Of a model: the layers for which it gives true.
  std::function<bool(Layer&)> filter = {};
};
/// Fails for a layer that cannot be, and where neither a mode nor a configuration is given.
CRESCENT_API void quantize_layer(Layer& layer, const QuantizeOptions& options);
/// Of every layer that can be and that the options choose. Fails for a model that is not built.
CRESCENT_API void quantize_model(Model& model, const QuantizeOptions& options);

}  // namespace crescent

// Quantization of large weights to 8 or 4 bits, after which they are not trainable. Layers that
// support it have a method "quantize" in their schema. Convolutions also have a property
// "can_be_int8" and are quantized only on request, because Keras leaves them as they are.
//
//   quantize_model(*model, {.mode = "int8", .names = std::vector<std::string>{"dense", "embed"}});
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "crescent/model/model.h"

namespace crescent {

/// The mode in which the layer is quantized, "int8" or "int4"; nullopt for a layer that computes in
/// floating point.
CRESCENT_API std::optional<std::string> quantization_mode(const Layer& layer);

struct QuantizeOptions {
  std::string mode = {};  ///< "int8" or "int4"; empty if `config` determines the mode
  Value config = {};      ///< a quantizer (name, configuration or object); null: chosen by `mode`
  /// Whether convolutions without groups are quantized, too, in the mode "int8". Keras cannot open
  /// files with such layers.
  bool include_convolutions = false;
  /// Option of quantize_model(): only layers are quantized whose names contain a match of one of
  /// these regular expressions. A warning names an expression that matches no quantizable layer.
  std::optional<std::vector<std::string>> names = {};
  /// Option of quantize_model(): only layers are quantized for which this function returns true.
  std::function<bool(Layer&)> filter = {};
};
/// Quantizes a layer. Fails for a layer that cannot be quantized, and if the options contain
/// neither mode nor config.
CRESCENT_API void quantize_layer(Layer& layer, const QuantizeOptions& options);
/// Quantizes every layer that supports it and that the options select. Fails for a model that is
/// not built.
CRESCENT_API void quantize_model(Model& model, const QuantizeOptions& options);

}  // namespace crescent

// Options that methods such as quantize set on the sublayers of a layer. Most sublayers are made by
// code of the outer layer, so no configuration contains their options. The options that were set
// are therefore stored in the option "sublayer_options" of the outer layer:
//
//   {"0": {"quantization_config": ...}, "2": {"sublayer_options": {"1": {"lora_rank": 4}}}}
//
// The keys are the indices of the sublayers. When a model is read from such a configuration, each
// sublayer gets its options as soon as it is built and belongs to the outer layer.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

inline constexpr const char* kSublayerOptions = "sublayer_options";

/// Declares the option "sublayer_options". Its value is stored in a LayerTable, from which
/// sublayers take their options when they are built.
void describe_sublayer_options(Schema<Layer>& s);
/// Returns the value of the option "sublayer_options" for a layer with this configuration: the
/// options of sublayers that `config` does not contain.
Dict sublayer_options(const Layer& layer, const Dict& config);
/// Applies the options that the owners of the layer store for it. Called when the layer has been
/// built.
void apply_options_of_owners(Layer& layer);
/// Applies the options that `owner` stores to `sublayer`, which has just been added to `owner`, and
/// to the layers inside `sublayer`. Layers that are not built are skipped.
void apply_options_of(const Layer& owner, Layer& sublayer);
/// Forgets the option "sublayer_options" of the layer. The destructor of Layer calls this function.
void forget_sublayer_options(const Layer& layer);

}  // namespace crescent

// Options that methods such as quantize set on layers inside a layer. Most such sublayers are made
// by code of the outer layer, so no configuration contains their options. The changes are therefore
// stored in the option "sublayer_options" of the outer layer:
//
//   {"0": {"quantization_config": ...}, "2": {"sublayer_options": {"1": {"lora_rank": 4}}}}
//
// The keys are the indices of the sublayers. A sublayer is changed in the same way as soon as it is
// built and belongs to the outer layer.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

inline constexpr const char* kSublayerOptions = "sublayer_options";

/// Declares the option "sublayer_options". Its value is stored in a LayerTable, from which
/// sublayers take their options when they are built.
void describe_sublayer_options(Schema<Layer>& s);
/// Returns the value of the option "sublayer_options" for a layer with this configuration: the
/// changes of sublayers that the configuration does not contain.
Dict sublayer_options(const Layer& layer, const Dict& config);
/// Applies the options of the owners of a layer that was just built.
void apply_options_of_owners(Layer& layer);
/// Applies the options of `owner` to a layer that just became its sublayer, and to the layers
/// inside it, if they are built.
void apply_options_of(const Layer& owner, Layer& sublayer);
/// Removes the value that is kept for the layer. The destructor of Layer calls this function.
void forget_sublayer_options(const Layer& layer);

}  // namespace crescent

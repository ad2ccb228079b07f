// Options that methods such as quantize gave to layers inside a layer. Most layers inside others
// are made by the code of these, and their options are in no configuration. What was changed since
// is the option "sublayer_options" of the outer layer:
//
//   {"0": {"quantization_config": ...}, "2": {"sublayer_options": {"1": {"lora_rank": 4}}}}
//
// The keys are the indices of the sublayers. A sublayer is changed in the same way as soon as it is
// built and belongs to the outer layer.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

inline constexpr const char* kSublayerOptions = "sublayer_options";

/// Declares the option. Its value is kept beside the layer until the sublayers are built.
void describe_sublayer_options(Schema<Layer>& s);
/// Returns the value of the option for a layer with this configuration: the changes of sublayers
/// that the configuration does not contain.
Dict sublayer_options(const Layer& layer, const Dict& config);
/// Changes a layer that was built just now as the options of its owners say.
void take_options_of_owners(Layer& layer);
/// Changes a layer that became a sublayer just now, and the layers inside it, if they are built.
void take_options_of(const Layer& owner, Layer& sublayer);
/// Removes the value that is kept for the layer, whose destructor calls this function.
void forget_sublayer_options(const Layer& layer);

}  // namespace crescent

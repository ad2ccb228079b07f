// The files of this plugin.
#pragma once
#include "crescent/layer/training.h"

namespace crescent {
void add_activations_with_options(Registry& registry);
}  // namespace crescent

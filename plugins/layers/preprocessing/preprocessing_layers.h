// The files of this plugin; each adds its classes.
#pragma once
#include "crescent/layer.h"

namespace crescent {
void add_rescaling(Registry& registry);
void add_normalization(Registry& registry);
}  // namespace crescent

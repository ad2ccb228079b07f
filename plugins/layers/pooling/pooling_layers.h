// The files of this plugin; each adds its classes.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {
void add_global_pooling(Registry& registry);
void add_adaptive_pooling(Registry& registry);
}  // namespace crescent

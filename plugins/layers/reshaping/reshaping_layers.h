// The files of this plugin; each adds its classes.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {
void add_margins(Registry& registry);
void add_upsampling(Registry& registry);
}  // namespace crescent

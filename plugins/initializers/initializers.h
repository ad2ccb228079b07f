// The files of this plugin.
#pragma once
#include "crescent/layer/training.h"

namespace crescent {
void add_stft(Registry& registry);
}  // namespace crescent

// The files of this plugin; each adds its classes.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {
void add_mel_spectrogram(Registry& registry);
void add_stft_spectrogram(Registry& registry);
}  // namespace crescent

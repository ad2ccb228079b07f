// Layers that tell which frequencies a sound has, and when.
#include "spectrograms.h"

#include "crescent/plugin.h"

CRESCENT_PLUGIN("spectrograms", CRESCENT_VERSION) {
  crescent::add_mel_spectrogram(registry);
  crescent::add_stft_spectrogram(registry);
}

// Layers that compute spectrograms of audio.
#include "spectrograms.h"

#include "crescent/plugin.h"

CRESCENT_PLUGIN("spectrograms", CRESCENT_VERSION) {
  crescent::add_mel_spectrogram(registry);
  crescent::add_stft_spectrogram(registry);
}

#include "crescent/plugin.h"

CRESCENT_PLUGIN("spectrograms", CRESCENT_VERSION) {}

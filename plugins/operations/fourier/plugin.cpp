#include "crescent/plugin.h"

CRESCENT_PLUGIN("fourier", CRESCENT_VERSION) {}

#include "crescent/plugin.h"

CRESCENT_PLUGIN("convolution", CRESCENT_VERSION) {}

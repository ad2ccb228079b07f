#include "crescent/plugin.h"

CRESCENT_PLUGIN("normalization", CRESCENT_VERSION) {}

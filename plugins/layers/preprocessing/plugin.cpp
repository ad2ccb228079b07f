#include "crescent/plugin.h"

CRESCENT_PLUGIN("preprocessing", CRESCENT_VERSION) {}

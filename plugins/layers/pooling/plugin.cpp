#include "crescent/plugin.h"

CRESCENT_PLUGIN("pooling", CRESCENT_VERSION) {}

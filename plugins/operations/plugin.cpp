#include "crescent/plugin.h"

CRESCENT_PLUGIN("operations", CRESCENT_VERSION) {}

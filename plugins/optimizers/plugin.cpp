#include "crescent/plugin.h"

CRESCENT_PLUGIN("optimizers", CRESCENT_VERSION) {}

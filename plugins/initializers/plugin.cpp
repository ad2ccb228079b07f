#include "crescent/plugin.h"

CRESCENT_PLUGIN("initializers", CRESCENT_VERSION) {}

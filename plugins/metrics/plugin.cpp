#include "crescent/plugin.h"

CRESCENT_PLUGIN("metrics", CRESCENT_VERSION) {}

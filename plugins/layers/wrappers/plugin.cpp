#include "crescent/plugin.h"

CRESCENT_PLUGIN("wrappers", CRESCENT_VERSION) {}

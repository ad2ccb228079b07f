#include "crescent/plugin.h"

CRESCENT_PLUGIN("core", CRESCENT_VERSION) {}

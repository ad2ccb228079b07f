#include "crescent/plugin.h"

CRESCENT_PLUGIN("attention", CRESCENT_VERSION) {}

#include "crescent/plugin.h"

CRESCENT_PLUGIN("oracles", CRESCENT_VERSION) {}

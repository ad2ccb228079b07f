#include "crescent/plugin.h"

CRESCENT_PLUGIN("recurrent", CRESCENT_VERSION) {}

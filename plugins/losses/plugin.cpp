#include "crescent/plugin.h"

CRESCENT_PLUGIN("losses", CRESCENT_VERSION) {}

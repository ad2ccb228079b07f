#include "crescent/plugin.h"

CRESCENT_PLUGIN("activations", CRESCENT_VERSION) {}

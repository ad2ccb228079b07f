#include "crescent/plugin.h"

CRESCENT_PLUGIN("image_operations", CRESCENT_VERSION) {}

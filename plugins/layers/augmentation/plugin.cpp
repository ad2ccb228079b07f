#include "crescent/plugin.h"

CRESCENT_PLUGIN("augmentation", CRESCENT_VERSION) {}

#include "crescent/plugin.h"

CRESCENT_PLUGIN("reshaping", CRESCENT_VERSION) {}

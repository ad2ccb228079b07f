#include "crescent/plugin.h"

CRESCENT_PLUGIN("linalg", CRESCENT_VERSION) {}

#include "crescent/plugin.h"

CRESCENT_PLUGIN("callbacks", CRESCENT_VERSION) {}

#include "crescent/plugin.h"

CRESCENT_PLUGIN("distillation", CRESCENT_VERSION) {}

#include "sample.h"

CRESCENT_PLUGIN("good", "1.2.3") { registry.add<Sample>("Welcome"); }

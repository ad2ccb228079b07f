// A plugin that is found by the name of its class only.
#include "sample.h"

CRESCENT_PLUGIN("sought", "1.0.0") { registry.add<Sample>("Sought"); }

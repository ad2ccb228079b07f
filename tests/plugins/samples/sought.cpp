// A plugin that is only found by the name of its class.
#include "sample.h"

CRESCENT_PLUGIN("sought", "1.0.0") { registry.add<Sample>("Sought"); }

// Is found by the name of its class and never loaded by its own.
#include "sample.h"

CRESCENT_PLUGIN("sought", "1.0.0") { registry.add<Sample>("Sought"); }

// A plugin with the name of a built-in one.
#include "../samples/sample.h"

CRESCENT_PLUGIN("losses", "9.9.9") { registry.add<Sample>("Reserved"); }

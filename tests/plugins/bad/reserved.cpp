// Uses a name that is reserved for built-in plugins.
#include "../sample.h"

CRESCENT_PLUGIN("losses", "9.9.9") { registry.add<Sample>("Reserved"); }

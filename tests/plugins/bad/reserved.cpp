// Calls itself as one of ours.
#include "../sample.h"

CRESCENT_PLUGIN("losses", "9.9.9") { registry.add<Sample>("Reserved"); }

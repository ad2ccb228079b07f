// One of the three source files of a plugin.
#include "sample.h"

CRESCENT_PLUGIN("several", "1.0.0") { registry.add<Sample>("BesideTheStamp"); }

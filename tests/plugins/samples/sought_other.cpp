// A plugin that replaces another library on the search path.
#include "sample.h"

CRESCENT_PLUGIN("sought_other", "1.0.0") { registry.add<Sample>("SoughtOther"); }

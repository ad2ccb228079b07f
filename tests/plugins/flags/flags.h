// A plugin that is only built with a wrong compiler flag (CMakeLists.txt).
#pragma once
#include "../sample.h"

CRESCENT_PLUGIN("bad.flags", "1.0.0") { registry.add<Sample>("Flags"); }

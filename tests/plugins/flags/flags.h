// A plugin of which nothing is wrong but a flag of its compiler (CMakeLists.txt).
#pragma once
#include "../sample.h"

CRESCENT_PLUGIN("bad.flags", "1.0.0") { registry.add<Sample>("Flags"); }

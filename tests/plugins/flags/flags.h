// A plugin that is built with a wrong compiler flag (see CMakeLists.txt).
#pragma once
#include "../samples/sample.h"

CRESCENT_PLUGIN("bad.flags", "1.0.0") { registry.add<Sample>("Flags"); }

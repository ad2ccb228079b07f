#include "crescent/plugin.h"

void nobody_defines_this();

CRESCENT_PLUGIN("bad.missing_symbol", "1.0.0") { nobody_defines_this(); }

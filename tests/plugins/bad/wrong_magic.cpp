#include "stamp.h"
BAD_STAMP("crescent-plugim", CRESCENT_PLUGIN_ABI, crescent::plugin_layout(), CRESCENT_TOOLCHAIN)

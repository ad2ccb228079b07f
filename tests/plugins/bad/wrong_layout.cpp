#include "stamp.h"
BAD_STAMP("crescent-plugin", CRESCENT_PLUGIN_ABI, crescent::plugin_layout() ^ 1, CRESCENT_TOOLCHAIN)

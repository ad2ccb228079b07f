#include "stamp.h"
BAD_STAMP("crescent-plugin", CRESCENT_PLUGIN_ABI + 41, crescent::plugin_layout(),
          CRESCENT_TOOLCHAIN)

#include "stamp.h"
BAD_STAMP("crescent-plugin", CRESCENT_PLUGIN_ABI, crescent::plugin_layout(), "tcc 1; libfoo")

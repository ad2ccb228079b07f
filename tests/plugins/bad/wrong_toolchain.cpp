#include "stamp.h"
BAD_STAMP("crescent-plugin", CRESCENT_PLUGIN_ABI, CRESCENT_HEADERS_HASH, "tcc 1; libfoo")

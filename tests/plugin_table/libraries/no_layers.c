// A plugin table that says it has two layers, but has no list of layers.
#include "common.h"

CRESCENT_EXPORT_TABLE = {
    CRESCENT_TABLE_HEAD("table.no_layers", "1"), start, NULL, 2, NULL, 0, NULL};

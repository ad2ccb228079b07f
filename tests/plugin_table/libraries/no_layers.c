// A table that counts two layers and has no list of them.
#include "common.h"

CRESCENT_EXPORT_TABLE = {
    CRESCENT_TABLE_HEAD("table.no_layers", "1"), start, NULL, 2, NULL, 0, NULL};

// A plugin table with a layer whose name has characters that are not allowed.
#include "common.h"

static const crescent_layer_class layer = {
    .struct_size = sizeof layer, .name = "bad name!", .call = pass_on};
static const crescent_layer_class* const layers[] = {&layer};

CRESCENT_EXPORT_TABLE = {
    CRESCENT_TABLE_HEAD("table.bad_name", "1"), start, layers, 1, NULL, 0, NULL};

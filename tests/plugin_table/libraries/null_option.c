// A plugin table with a layer whose list of options has an entry that is NULL.
#include "common.h"

static const crescent_option* const options[] = {NULL};
static const crescent_layer_class layer = {.struct_size = sizeof layer,
                                           .name = "TableNullOption",
                                           .options = options,
                                           .option_count = 1,
                                           .call = pass_on};
static const crescent_layer_class* const layers[] = {&layer};

CRESCENT_EXPORT_TABLE = {
    CRESCENT_TABLE_HEAD("table.null_option", "1"), start, layers, 1, NULL, 0, NULL};

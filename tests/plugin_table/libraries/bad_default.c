// A plugin table with a layer whose option has a default that is no JSON.
#include "common.h"

static const crescent_option factor = {
    .struct_size = sizeof factor, .name = "factor", .default_value = "{two"};
static const crescent_option* const options[] = {&factor};
static const crescent_layer_class layer = {.struct_size = sizeof layer,
                                           .name = "TableBadDefault",
                                           .options = options,
                                           .option_count = 1,
                                           .call = pass_on};
static const crescent_layer_class* const layers[] = {&layer};

CRESCENT_EXPORT_TABLE = {
    CRESCENT_TABLE_HEAD("table.bad_default", "1"), start, layers, 1, NULL, 0, NULL};

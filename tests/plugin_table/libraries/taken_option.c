// A plugin table with a layer whose option has a name that an option of every layer has.
#include "common.h"

static const crescent_option trainable = {sizeof trainable, "trainable", NULL, "3"};
static const crescent_option* const options[] = {&trainable};
static const crescent_layer_class layer = {.struct_size = sizeof layer,
                                           .name = "TableTakenOption",
                                           .options = options,
                                           .option_count = 1,
                                           .call = pass_on};
static const crescent_layer_class* const layers[] = {&layer};

CRESCENT_EXPORT_TABLE = {
    CRESCENT_TABLE_HEAD("table.taken_option", "1"), start, layers, 1, NULL, 0, NULL};

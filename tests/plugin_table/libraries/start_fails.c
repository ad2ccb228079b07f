// A plugin whose start function returns an error.
#include "common.h"

static crescent_error* fail_to_start(const crescent_host* given) {
  return given->error_new("the licence server is asleep");
}
static const crescent_layer_class layer = {
    .struct_size = sizeof layer, .name = "TableAsleep", .call = pass_on};
static const crescent_layer_class* const layers[] = {&layer};

CRESCENT_EXPORT_TABLE = {
    CRESCENT_TABLE_HEAD("table.asleep", "1"), fail_to_start, layers, 1, NULL, 0, NULL};

// A plugin built against an earlier header: its structs end before members that were added later,
// and the memory behind them belongs to other data.
#include "common.h"

static const struct {
  crescent_layer_class known;
} layer = {{.struct_size = offsetof(crescent_layer_class, min_inputs),
            .name = "TableOlder",
            .call = pass_on,
            .min_inputs = 77,
            .supports_masking = 77}};
static const crescent_layer_class* const layers[] = {&layer.known};

CRESCENT_EXPORT_TABLE = {CRESCENT_TABLE_MAGIC,
                         offsetof(crescent_plugin, ops),
                         CRESCENT_TABLE_VERSION,
                         "table.older",
                         "0.1.0",
                         start,
                         layers,
                         1,
                         (const crescent_op_class* const*)1,
                         77,
                         NULL};

// A plugin table whose list of ops has an entry that is NULL.
#include "common.h"

static const crescent_op_class* const ops[] = {NULL};

CRESCENT_EXPORT_TABLE = {CRESCENT_TABLE_HEAD("table.null_op", "1"), start, NULL, 0, ops, 1, NULL};

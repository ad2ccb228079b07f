// A plugin table whose version no host can read.
#include "common.h"

CRESCENT_EXPORT_TABLE = {CRESCENT_TABLE_MAGIC,
                         sizeof(crescent_plugin),
                         2,
                         "table.wrong",
                         "1",
                         start,
                         NULL,
                         0,
                         NULL,
                         0,
                         NULL};

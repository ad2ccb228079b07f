#include "crescent/plugin.h"

CRESCENT_PLUGIN("bad.clash_builtin", "1.0.0") {
  registry.add(crescent::ClassInfo{.kind = "regularizer", .name = "BeforeTheClash"});
  registry.add(crescent::ClassInfo{.kind = "layer", .name = "Dense"});
}

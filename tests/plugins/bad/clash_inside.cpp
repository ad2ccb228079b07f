#include "crescent/plugin.h"

CRESCENT_PLUGIN("bad.clash_inside", "1.0.0") {
  registry.add(crescent::ClassInfo{.kind = "regularizer", .name = "Twice"});
  registry.add(crescent::ClassInfo{.kind = "regularizer", .name = "Twice"});
}

#include "crescent/plugin.h"

CRESCENT_PLUGIN("bad.setup_throws", "1.0.0") {
  registry.add(crescent::ClassInfo{.kind = "regularizer", .name = "HalfDone"});
  crescent::fail("the licence server is asleep");
}

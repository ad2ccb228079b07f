#include "crescent/plugin.h"

CRESCENT_PLUGIN("good", "1.2.3") {
  registry.add(crescent::ClassInfo{.kind = "regularizer", .name = "Welcome"});
}

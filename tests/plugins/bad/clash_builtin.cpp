#include "../samples/sample.h"

CRESCENT_PLUGIN("bad.clash_builtin", "1.0.0") {
  registry.add<Sample>("BeforeTheClash");
  registry.add<Sample>("L2");
}

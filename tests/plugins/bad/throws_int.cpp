#include "../samples/sample.h"

CRESCENT_PLUGIN("bad.throws_int", "1.0.0") {
  registry.add<Sample>("ThrowsInt");
  throw 42;
}

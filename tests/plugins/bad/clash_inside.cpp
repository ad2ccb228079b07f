#include "../samples/sample.h"

CRESCENT_PLUGIN("bad.clash_inside", "1.0.0") {
  registry.add<Sample>("Twice");
  registry.add<Sample>("Twice");
}

#include "../samples/sample.h"

CRESCENT_PLUGIN("bad.setup_throws", "1.0.0") {
  registry.add<Sample>("HalfDone");
  crescent::fail("the licence server is asleep");
}

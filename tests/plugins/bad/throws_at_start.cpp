#include <stdexcept>

#include "../samples/sample.h"

struct Start {
  Start() { throw std::runtime_error("no licence at the start"); }
};
static const Start start;

CRESCENT_PLUGIN("bad.throws_at_start", "1.0.0") { registry.add<Sample>("ThrowsAtStart"); }

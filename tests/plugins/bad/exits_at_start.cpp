#include <cstdlib>

#include "../samples/sample.h"

__attribute__((constructor)) static void run_at_load() { std::exit(3); }

CRESCENT_PLUGIN("bad.exits", "1.0.0") { registry.add<Sample>("Exits"); }

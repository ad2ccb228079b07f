#include <unistd.h>

#include "../samples/sample.h"

__attribute__((constructor)) static void run_at_load() { _exit(0); }

CRESCENT_PLUGIN("bad.quiet", "1.0.0") { registry.add<Sample>("Quiet"); }

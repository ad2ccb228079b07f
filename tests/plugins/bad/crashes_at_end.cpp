#include <cstdlib>

#include "../samples/sample.h"

__attribute__((destructor)) static void run_at_end() { std::abort(); }

CRESCENT_PLUGIN("bad.crashes_at_end", "1.0.0") { registry.add<Sample>("CrashesAtEnd"); }

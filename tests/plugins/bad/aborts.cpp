#include <cstdio>
#include <cstdlib>

#include "../samples/sample.h"

CRESCENT_PLUGIN("bad.aborts", "1.0.0") {
  registry.add<Sample>("Aborts");
  std::fputs("setup: \x1b[31mthe table is empty\n", stderr);
  std::abort();
}

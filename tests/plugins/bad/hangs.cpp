#include <unistd.h>

#include "../samples/sample.h"

CRESCENT_PLUGIN("bad.hangs", "1.0.0") {
  registry.add<Sample>("Hangs");
  for (;;) pause();
}

#include <csignal>

#include "../samples/sample.h"

CRESCENT_PLUGIN("bad.crashes", "1.0.0") {
  registry.add<Sample>("Crashes");
  std::raise(SIGSEGV);
}

// Built with -funsigned-char.
#include <cstdlib>

#include "crescent/plugin.h"

CRESCENT_PLUGIN("bad.unsigned_char", "1.0.0") {
  (void)registry;
  std::abort();
}

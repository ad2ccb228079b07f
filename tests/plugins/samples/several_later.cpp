#include "sample.h"

CRESCENT_REGISTER(later) {
  registry.add<Sample>("Later");
  registry.add<Sample>("Last");
}

// Built as two plugins with different names; each must have its own copy of symbols with the same
// name.
#include "sample.h"

#define VISIBLE __attribute__((visibility("default")))

VISIBLE int twin_setups = 0;
struct VISIBLE Twin {
  static inline int setups = 0;
};

CRESCENT_PLUGIN(TWIN_NAME, "1.0.0") {
  if (++twin_setups != 1 || ++Twin::setups != 1) crescent::fail("shares its globals with another");
  registry.add<Sample>(TWIN_NAME);
}

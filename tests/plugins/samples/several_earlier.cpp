#include "sample.h"

CRESCENT_REGISTER(earlier) { registry.add<Sample>("Earlier"); }

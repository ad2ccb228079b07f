// Checks for interruptions in code that makes elements: every loop whose length depends on data or
// options of the user makes such a check.
#pragma once
#include "crescent/system/interrupt.h"

namespace crescent {

inline void check_element_interruption() { heed_interruption("elements of a dataset were made"); }

}  // namespace crescent

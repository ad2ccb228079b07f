// Interruption of code that makes elements: every loop whose length depends on data or options of
// the user checks for it.
#pragma once
#include "crescent/system/interrupt.h"

namespace crescent {

inline void check_element_interruption() { heed_interruption("elements of a dataset were made"); }

}  // namespace crescent

// Interruption of what makes elements: every loop whose length data or numbers of the user decide
// looks at it.
#pragma once
#include "crescent/system/interrupt.h"

namespace crescent {

inline void heed_interruption_of_elements() {
  heed_interruption("elements of a dataset were made");
}

}  // namespace crescent

// Counts changes of options of variables on which compiled steps depend. A compiled step is not
// notified of a change; before it runs, the counters are compared with those at its compilation.
#pragma once
#include <cstdint>

namespace crescent {

/// The number of changes of the flag `trainable` of any variable or layer.
uint64_t trainable_changes();
void count_trainable_change();
/// The number of changes of the constraint of any variable.
uint64_t constraint_changes();

}  // namespace crescent

// Counters of changes to options of variables that compiled steps depend on. Owners of steps are
// not notified of a change, so they compare the counters.
#pragma once
#include <cstdint>

namespace crescent {

/// How often the flag `trainable` of any variable or layer has changed.
uint64_t trainable_changes();
void count_trainable_change();
/// How often any variable has got another constraint.
uint64_t constraint_changes();

}  // namespace crescent

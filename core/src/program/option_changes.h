// Options of variables that steps depend on; nobody above is told when they change, so changes are
// counted.
#pragma once
#include <cstdint>

namespace crescent {

/// How often `trainable` of anything (variables, layers) has changed.
uint64_t trainable_changes();
void count_trainable_change();
/// How often a variable has been given another constraint.
uint64_t constraint_changes();

}  // namespace crescent

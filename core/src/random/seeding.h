// The seed that set_random_seed set. Generators that were created before the call of
// set_random_seed read it from here.
#pragma once
#include <cstdint>

namespace crescent {

/// The argument of the last call of set_random_seed; 0 before the first call.
int64_t last_random_seed();

}  // namespace crescent

// The seed that set_random_seed gave the process, for generators that were created before the call.
#pragma once
#include <cstdint>

namespace crescent {

/// The argument of the last call of set_random_seed; 0 before the first call.
int64_t last_random_seed();

}  // namespace crescent

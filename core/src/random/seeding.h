// The seed of set_random_seed, for generators that were created before it was called.
#pragma once
#include <cstdint>

namespace crescent {

/// The last seed that the process was given; 0 before one.
int64_t last_random_seed();

}  // namespace crescent

// What set_random_seed was told, for generators that were made before.
#pragma once
#include <cstdint>

namespace crescent {

/// The last seed that the process was given; 0 before one.
int64_t last_random_seed();

}  // namespace crescent

// Philox 4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"). The key is
// the seed and the counter is (block, draw), so every block of every draw can be computed
// independently.
#include "crescent/ops/random.h"

namespace crescent {

PhiloxBlock philox(uint64_t seed, uint64_t counter, uint64_t block) {
  constexpr uint32_t kMultipliers[2] = {0xD2511F53u, 0xCD9E8D57u};
  constexpr uint32_t kKeyIncrements[2] = {0x9E3779B9u, 0xBB67AE85u};
  uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  uint32_t x[4] = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                   static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{kMultipliers[0]} * x[0], p1 = uint64_t{kMultipliers[1]} * x[2];
    const uint32_t y0 = static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ key[0];
    const uint32_t y2 = static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ key[1];
    x[0] = y0, x[1] = static_cast<uint32_t>(p1), x[2] = y2, x[3] = static_cast<uint32_t>(p0);
    key[0] += kKeyIncrements[0], key[1] += kKeyIncrements[1];
  }
  return {{x[0], x[1], x[2], x[3]}};
}

}  // namespace crescent

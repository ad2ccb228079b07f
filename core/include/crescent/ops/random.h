// Counter-based randomness: a generator is (seed, counter) in an int64 Variable of two elements, so
// the same seed draws the same bits for any number of threads, inside compiled steps too, and the
// state is saved with a model.
#pragma once
#include "crescent/ops/ops.h"
#include "crescent/tensor/variable.h"

namespace crescent {

class CRESCENT_API SeedGenerator {
 public:
  /// Without a seed, one is drawn from global_random() (see set_random_seed).
  explicit SeedGenerator(std::optional<int64_t> seed = {});
  /// Each draw uses the counter once and advances it (recorded when tracing).
  Tensor uniform(const Shape& shape, double low = 0, double high = 1,
                 DType dtype = DType::float32) const;
  Tensor normal(const Shape& shape, double mean = 0, double stddev = 1,
                DType dtype = DType::float32) const;
  Tensor truncated_normal(const Shape& shape, double mean = 0, double stddev = 1,
                          DType dtype = DType::float32) const;
  /// A permutation of 0..n-1 (int64, host).
  std::vector<int64_t> permutation(int64_t n) const;
  /// A seed for another generator.
  int64_t seed() const;
  const Variable& state() const { return state_; }

 private:
  Tensor draw(RandomKind kind, const Shape& shape, double a, double b, DType dtype) const;
  Variable state_;
};

/// The generator of the process, which draws initial weights without a seed and for cr.random.*.
CRESCENT_API SeedGenerator& global_random();
/// Resets global_random(); models built afterwards are the same every time.
CRESCENT_API void set_random_seed(int64_t seed);

/// One block of Philox 4x32-10: four words for key `seed` and counter (`counter`, `block`). All
/// devices must produce these bits.
struct PhiloxBlock {
  uint32_t word[4];
};
CRESCENT_API PhiloxBlock philox(uint64_t seed, uint64_t counter, uint64_t block);

}  // namespace crescent

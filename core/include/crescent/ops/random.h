// Counter-based randomness: a generator is (seed, counter) in an int64 Variable of two elements, so
// the same seed draws the same bits for any number of threads, inside compiled steps too, and the
// state is saved with a model.
#pragma once
#include "crescent/ops/ops.h"
#include "crescent/tensor/variable.h"

namespace crescent {

class CRESCENT_API SeedGenerator {
 public:
  /// If `seed` is not given, it is drawn from global_random(), which set_random_seed() resets.
  explicit SeedGenerator(std::optional<int64_t> seed = {});
  /// A generator that draws the same numbers in every call, in every run of a compiled step too, as
  /// functions of Keras do for an integer seed.
  static SeedGenerator repeating(int64_t seed);
  // Each call of the following functions uses the current counter and increments it. If the call is
  // traced, every run of the program does both.
  /// Numbers in [low, high).
  Tensor uniform(const Shape& shape, double low = 0, double high = 1,
                 DType dtype = DType::float32) const;
  Tensor normal(const Shape& shape, double mean = 0, double stddev = 1,
                DType dtype = DType::float32) const;
  Tensor truncated_normal(const Shape& shape, double mean = 0, double stddev = 1,
                          DType dtype = DType::float32) const;
  /// The state of one draw, for an op that makes the numbers itself. If several processes share a
  /// batch and axis 0 of the shape has the rows of this process, these rows begin at row
  /// `first_row` of the draw.
  struct DrawState {
    Tensor state;
    int64_t first_row = 0;
  };
  /// Returns the state of one draw; nullopt, without a draw, if several processes share a batch and
  /// the rows of the batch are not in axis 0.
  std::optional<DrawState> draw_state(const Shape& shape) const;
  /// Returns the numbers 0..n-1 in random order, computed on the host.
  std::vector<int64_t> permutation(int64_t n) const;
  /// Draws a seed for another generator.
  int64_t seed() const;
  const Variable& state() const { return state_; }

 private:
  Tensor draw(RandomKind kind, const Shape& shape, double a, double b, DType dtype) const;
  Tensor take_state() const;
  Variable state_;
  std::optional<int64_t> repeated_seed_;
};

/// The generator of the process. It draws the numbers of cr.random.* and the initial weights of
/// layers for which no seed was given.
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

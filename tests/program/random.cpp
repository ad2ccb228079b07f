#include "crescent/ops/random.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace crescent;

TEST_CASE("philox gives the words of the reference implementation") {
  // Published test vectors of Random123 for the generator Philox 4x32-10.
  auto words_of = [](uint64_t seed, uint64_t counter, uint64_t block) {
    const PhiloxBlock b = philox(seed, counter, block);
    return std::vector<uint32_t>(b.word, b.word + 4);
  };
  CHECK(words_of(0, 0, 0) == std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(words_of(~0ull, ~0ull, ~0ull) ==
        std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(words_of(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88) ==
        std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("the same seed draws the same, another draw something else") {
  const SeedGenerator a(3), b(3), c(4);
  const auto first = a.uniform({100}).to_vector();
  CHECK(first == b.uniform({100}).to_vector());
  CHECK(first != a.uniform({100}).to_vector());
  CHECK(first != c.uniform({100}).to_vector());
  CHECK(std::all_of(first.begin(), first.end(), [](double x) { return x >= 0 && x < 1; }));
}

TEST_CASE("normal values have their mean and deviation, truncated ones their bounds") {
  const SeedGenerator generator(1);
  const auto normal = generator.normal({20000}, 2, 3).to_vector();
  double mean = 0, square_sum = 0;
  for (double x : normal) mean += x / 20000, square_sum += (x - 2) * (x - 2) / 20000;
  CHECK(mean == Approx(2).margin(0.1));
  CHECK(square_sum == Approx(9).margin(0.4));
  const auto truncated_numbers = generator.truncated_normal({20000}, 2, 3).to_vector();
  CHECK(std::all_of(truncated_numbers.begin(), truncated_numbers.end(),
                    [](double x) { return x >= -4 && x <= 8; }));
}

TEST_CASE("a permutation has every number once") {
  const SeedGenerator generator(1);
  auto permutation = generator.permutation(1000), same_order = generator.permutation(1000);
  CHECK(permutation != same_order);
  std::sort(permutation.begin(), permutation.end());
  for (int64_t i = 0; i < 1000; ++i) CHECK(permutation[static_cast<size_t>(i)] == i);
  CHECK(generator.permutation(0).empty());
  CHECK_THROWS_AS(generator.permutation(-1), Error);
}

TEST_CASE("set_random_seed repeats what generators without a seed draw") {
  set_random_seed(7);
  const auto a = SeedGenerator().uniform({4}).to_vector(),
             b = SeedGenerator().uniform({4}).to_vector();
  set_random_seed(7);
  CHECK(a != b);
  CHECK(SeedGenerator().uniform({4}).to_vector() == a);
  CHECK(SeedGenerator().uniform({4}).to_vector() == b);
}

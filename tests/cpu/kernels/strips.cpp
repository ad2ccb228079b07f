// Products of packed strips of bfloat16 values against sums in float64.
#include <bit>
#include <cmath>
#include <random>

#include "matmul/amx.h"
#include "support.h"

using namespace crescent;
using namespace crescent::cpu;

namespace {

using amx::kDepth;
using amx::kLines;

uint16_t bfloat16_bits(double value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}
double value_of(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

struct StripProduct {
  amx::Block block;
  int64_t steps, runs, row_stride, run_gap;
  bool is_added;
};

/// Checks the sums of random strips whose rows on the left are `row_stride` values apart and whose
/// runs are separated by `run_gap` values.
void check_product_of_strips(const StripProduct& p, std::mt19937& rng) {
  std::uniform_real_distribution<double> random(-2, 2);
  const int64_t left_count = amx::left_strips(p.block), right_count = amx::right_strips(p.block);
  const int64_t run_values = p.steps * kDepth, run_stride = run_values + p.run_gap,
                depth = p.runs * run_values, width = right_count * kLines;
  std::vector<uint16_t> left(
      static_cast<size_t>(left_count * kLines * p.row_stride + p.runs * run_stride)),
      right(static_cast<size_t>(right_count * depth * kLines));
  for (auto* values : {&left, &right})
    for (uint16_t& bits : *values) bits = bfloat16_bits(random(rng));
  amx::LeftStrips a{{}, p.row_stride, kDepth, run_stride};
  amx::RightStrips b{};
  for (int64_t s = 0; s < left_count; ++s) a.strips[s] = left.data() + s * kLines * p.row_stride;
  for (int64_t s = 0; s < right_count; ++s) b.strips[s] = right.data() + s * depth * kLines;
  alignas(64) float c[amx::kBlockValues];
  for (float& x : c) x = static_cast<float>(random(rng));
  const std::vector<float> before(c, c + amx::kBlockValues);
  {
    const amx::Tiles tiles;
    amx::multiply(p.block, a, b, p.steps, p.runs, c, p.is_added);
  }
  for (int64_t i = 0; i < left_count * kLines; ++i)
    for (int64_t j = 0; j < width; ++j) {
      double sum = p.is_added ? before[static_cast<size_t>(i * width + j)] : 0, size = 1;
      for (int64_t k = 0; k < depth; ++k) {
        const double x = value_of(left[static_cast<size_t>(
                         i * p.row_stride + k / run_values * run_stride + k % run_values)]),
                     y = value_of(
                         b.strips[j / kLines][k / 2 * 2 * kLines + j % kLines * 2 + k % 2]);
        sum += x * y, size += std::abs(x * y);
      }
      REQUIRE(std::abs(c[i * width + j] - sum) <= 1e-6 * size);
    }
}

}  // namespace

TEST_CASE("strips of bfloat16 values are multiplied as in float64", "[cpu][matmul]") {
  if (!amx::available()) {
    WARN("skipped: no instructions for bfloat16 on this processor");
    return;
  }
  std::mt19937 rng(7);
  for (amx::Block block : {amx::Block::square, amx::Block::tall, amx::Block::wide})
    for (int64_t steps : {1, 2, 5})
      for (int64_t runs : {1, 3})
        for (int64_t row_gap : {0, 32, 480})
          for (bool is_added : {false, true}) {
            const int64_t row_stride = runs * steps * kDepth + row_gap;
            CAPTURE(static_cast<int>(block), steps, runs, row_stride, is_added);
            check_product_of_strips({block, steps, runs, row_stride, row_gap / 2, is_added}, rng);
          }
}

TEST_CASE("strips of bfloat16 values keep infinities, NaN and signs", "[cpu][matmul]") {
  if (!amx::available()) {
    WARN("skipped: no instructions for bfloat16 on this processor");
    return;
  }
  std::vector<uint16_t> left(2 * amx::kTileValues, bfloat16_bits(1)),
      right(2 * amx::kTileValues, bfloat16_bits(-1));
  left[kDepth + 31] = bfloat16_bits(INFINITY), left[2 * kDepth + 5] = bfloat16_bits(NAN),
                left[3 * kDepth] = bfloat16_bits(3e38), left[3 * kDepth + 1] = bfloat16_bits(3e38);
  const amx::LeftStrips a{{left.data(), left.data() + amx::kTileValues}};
  const amx::RightStrips b{{right.data(), right.data() + amx::kTileValues}};
  alignas(64) float c[amx::kBlockValues];
  const amx::Tiles tiles;
  amx::multiply(amx::Block::square, a, b, 1, 1, c, false);
  for (int64_t j = 0; j < amx::kBlock; ++j) {
    CHECK(c[j] == -32);
    CHECK(c[amx::kBlock + j] == -INFINITY);
    CHECK(std::isnan(c[2 * amx::kBlock + j]));
    CHECK(c[3 * amx::kBlock + j] == -INFINITY);
    CHECK(c[4 * amx::kBlock + j] == -32);
  }
}

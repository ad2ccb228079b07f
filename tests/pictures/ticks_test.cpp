// Ticks of axes are round numbers, sorted and within the range, and their labels are exact.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <set>

#include "scene/ticks.h"

namespace crescent::pictures {
namespace {

/// 1, 2 or 5 if the step is that number times a power of ten, else another number.
double digit_of(double step) {
  const double power = std::pow(10, std::floor(std::log10(step) + 1e-9));
  return step / power;
}

}  // namespace

TEST_CASE("ticks by the rule of 1, 2 and 5") {
  CHECK(ticks_in({0, 10}, 6).texts == std::vector<std::string>{"0", "2", "4", "6", "8", "10"});
  CHECK(ticks_in({-0.3, 0.3}, 4).texts == std::vector<std::string>{"-0.2", "0.0", "0.2"});
  CHECK(ticks_in({0, 3e6}, 4).texts == std::vector<std::string>{"0", "1e6", "2e6", "3e6"});
  CHECK(ticks_in({0, 3e-5}, 4).texts == std::vector<std::string>{"0", "1e-5", "2e-5", "3e-5"});
  CHECK(ticks_in({1, 3}, 20, true).texts == std::vector<std::string>{"1", "2", "3"});
}

TEST_CASE("ticks of random ranges") {
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    const double size = std::pow(10, static_cast<int>(random() % 30) - 15) * (1 + random() % 1000);
    const double min = size * (static_cast<double>(random() % 2000) - 1000) / 100;
    const Range range{min, min + size};
    const int tick_count = 2 + static_cast<int>(random() % 12);
    const Ticks ticks = ticks_in(range, tick_count);
    INFO("from " << range.min << " to " << range.max << ", " << tick_count);
    REQUIRE(!ticks.values.empty());
    REQUIRE(ticks.values.size() <= static_cast<size_t>(tick_count));
    REQUIRE(ticks.texts.size() == ticks.values.size());
    REQUIRE(std::set<std::string>(ticks.texts.begin(), ticks.texts.end()).size() ==
            ticks.texts.size());
    for (size_t k = 0; k < ticks.values.size(); ++k) {
      REQUIRE(ticks.values[k] >= range.min - 1e-6 * size);
      REQUIRE(ticks.values[k] <= range.max + 1e-6 * size);
      if (ticks.values.size() > 1)
        REQUIRE(std::abs(std::stod(ticks.texts[k]) - ticks.values[k]) <=
                0.01 * (ticks.values[1] - ticks.values[0]));
    }
    if (ticks.values.size() < 2) continue;
    const double digit = digit_of(ticks.values[1] - ticks.values[0]);
    REQUIRE(
        (std::abs(digit - 1) < 1e-3 || std::abs(digit - 2) < 1e-3 || std::abs(digit - 5) < 1e-3));
  }
}

}  // namespace crescent::pictures

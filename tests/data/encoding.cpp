// One-hot class vectors and padded sequences: every row compared with the definition, and errors
// for invalid inputs.
#include "crescent/data/encoding.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace crescent;
using Catch::Contains;

namespace {

using Doubles = std::vector<double>;

/// One row of pad_sequences, computed element by element.
Doubles padded_row(const Doubles& sequence, int64_t width, bool pads_in_front, bool cuts_in_front,
                   double value) {
  Doubles row = sequence;
  while (std::ssize(row) > width) row.erase(cuts_in_front ? row.begin() : row.end() - 1);
  while (std::ssize(row) < width) row.insert(pads_in_front ? row.begin() : row.end(), value);
  return row;
}

}  // namespace

TEST_CASE("pad_sequences fills and cuts each row on its sides") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Doubles> sequences(random() % 6);
    size_t longest = 0;
    for (Doubles& sequence : sequences) {
      for (size_t i = random() % 7; i > 0; --i)
        sequence.push_back(static_cast<double>(random() % 90));
      longest = std::max(longest, sequence.size());
    }
    std::optional<int64_t> maxlen;
    if (random() % 2) maxlen = static_cast<int64_t>(random() % 8);
    const bool pads_in_front = random() % 2, cuts_in_front = random() % 2;
    const Tensor x = pad_sequences(sequences, maxlen, DType::int64, pads_in_front ? "pre" : "post",
                                   cuts_in_front ? "pre" : "post", -7);
    const int64_t width = maxlen.value_or(static_cast<int64_t>(longest));
    REQUIRE(x.shape() == Shape{std::ssize(sequences), width});
    REQUIRE(x.dtype() == DType::int64);
    Doubles expected;
    for (const Doubles& sequence : sequences)
      for (double number : padded_row(sequence, width, pads_in_front, cuts_in_front, -7))
        expected.push_back(number);
    REQUIRE(x.to_vector() == expected);
  }
}

TEST_CASE("pad_sequences names what it does not know") {
  const std::vector<Doubles> single_sequence = {{1}};
  CHECK_THROWS_WITH(pad_sequences(single_sequence, {}, DType::int32, "front"), Contains("'front'"));
  CHECK_THROWS_WITH(pad_sequences(single_sequence, {}, DType::int32, "pre", "end"),
                    Contains("'end'"));
  CHECK_THROWS_WITH(pad_sequences(single_sequence, -2), Contains("-2"));
}

TEST_CASE("to_categorical gives each class its column") {
  const Tensor x = to_categorical(Tensor::from<int32_t>({2, 0, 1}, {3, 1}));
  CHECK(x.shape() == Shape{3, 3});
  CHECK(x.dtype() == DType::float32);
  CHECK(x.to_vector() == Doubles{0, 0, 1, 1, 0, 0, 0, 1, 0});
  CHECK(to_categorical(Tensor::from<int32_t>({0}, {1}), 3).to_vector() == Doubles{1, 0, 0});
  CHECK_THROWS_WITH(to_categorical(Tensor::from<int32_t>({3}, {1}), 3), Contains("3 classes"));
  CHECK_THROWS_WITH(to_categorical(Tensor::from<int32_t>({-1}, {1}), 3), Contains("-1"));
  CHECK_THROWS_WITH(to_categorical(Tensor::full({0}, 0)), Contains("num_classes"));
}

TEST_CASE("normalize divides by the norm of an order, and leaves zeros") {
  const Tensor x = Tensor::from<double>({3, -4, 0, 0}, {2, 2});
  const auto check_near = [](const Tensor& got, const Doubles& expected) {
    const Doubles values = got.to_vector();
    for (size_t i = 0; i < expected.size(); ++i) CHECK(std::abs(values[i] - expected[i]) < 1e-12);
  };
  check_near(normalize(x), {0.6, -0.8, 0, 0});
  check_near(normalize(x, 0), {1, -1, 0, 0});
  check_near(normalize(x, -1, 1), {3.0 / 7, -4.0 / 7, 0, 0});
  check_near(normalize(x, -1, 3), {3 / std::cbrt(91), -4 / std::cbrt(91), 0, 0});
}

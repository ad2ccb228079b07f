// Splits of rows into parts: which rows each part gets, how many of each class, and errors for
// impossible splits.
#include "crescent/data/splits.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "crescent/data/numpy_random.h"

using namespace crescent;
using Catch::Contains;

namespace {

using Doubles = std::vector<double>;

Doubles numbers_below(int64_t count) {
  Doubles numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

Tensor row_numbers(int64_t rows, int64_t columns = 1) {
  const Doubles numbers = numbers_below(rows * columns);
  return Tensor::from(std::vector<int32_t>(numbers.begin(), numbers.end()), {rows, columns});
}

Doubles sorted(Doubles numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Doubles joined_numbers(const Tensor& a, const Tensor& b) {
  Doubles numbers = a.to_vector();
  for (const double number : b.to_vector()) numbers.push_back(number);
  return numbers;
}

// The labels of four rows of class 0 and eight of class 1.
const Tensor kLabels = Tensor::from<float>({0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0}, {12});

}  // namespace

TEST_CASE("NumpyRandom mixes as numpy.random.RandomState does") {
  std::vector<int> items(10);
  std::iota(items.begin(), items.end(), 0);
  NumpyRandom(0).shuffle(items);
  CHECK(items == std::vector<int>{2, 8, 4, 9, 1, 6, 7, 3, 0, 5});
}

TEST_CASE("a split keeps rows of several arrays together and loses none") {
  const Tensor x = row_numbers(10), y = row_numbers(10);
  const auto [train, test] = split_arrays({x, y}, 0.3, {.seed = 1});
  CHECK(train[0].shape() == Shape{7, 1});
  CHECK(test[0].shape() == Shape{3, 1});
  CHECK(train[0].to_vector() == train[1].to_vector());
  CHECK(test[0].to_vector() == test[1].to_vector());
  CHECK(sorted(joined_numbers(train[0], test[0])) == numbers_below(10));
  CHECK(split_arrays({x}, 0.3, {.seed = 1}).second[0].to_vector() == test[0].to_vector());
  CHECK(split_arrays({x}, 0.3, {.seed = 2}).second[0].to_vector() != test[0].to_vector());
}

TEST_CASE("a split without a shuffle takes the last rows, of each class where there are labels") {
  const SplitOptions unshuffled_options{.shuffle = false};
  CHECK(split_arrays({row_numbers(12)}, 0.25, unshuffled_options).second[0].to_vector() ==
        Doubles{9, 10, 11});
  const SplitOptions stratified_options{.shuffle = false, .stratify = kLabels};
  CHECK(split_arrays({row_numbers(12)}, 0.25, stratified_options).second[0].to_vector() ==
        Doubles{8, 9, 11});
}

TEST_CASE("a split refuses what it cannot cut") {
  const Tensor x = row_numbers(4);
  CHECK_THROWS_WITH(split_arrays({x}, 1), "split: share must be between 0 and 1, got 1");
  CHECK_THROWS_WITH(split_arrays({x}, 0.01), Contains("4 rows are not enough for two parts"));
  CHECK_THROWS_WITH(split_arrays({x, row_numbers(3)}),
                    "split: expected arrays of 4 rows each, got shape (3, 1)");
  CHECK_THROWS_WITH(split_arrays({}), "split: expected arrays of rows");
  CHECK_THROWS_WITH(split_arrays({Tensor(1.0f)}), "split: expected arrays of rows");
  CHECK_THROWS_WITH(split_arrays({x}, 0.5, {.stratify = kLabels}),
                    "stratify: expected a label for each of 4 rows, got shape (12,)");
}

TEST_CASE("each row is tested in one fold and trained on in the others") {
  Doubles tested_rows;
  for (const Fold& fold : k_folds(11, 3, {.seed = 4})) {
    CHECK(sorted(joined_numbers(fold.train, fold.test)) == numbers_below(11));
    CHECK(fold.test.to_vector() == sorted(fold.test.to_vector()));
    for (const double row : fold.test.to_vector()) tested_rows.push_back(row);
  }
  CHECK(sorted(tested_rows) == numbers_below(11));
}

TEST_CASE("stratified folds have equal shares of each class") {
  for (const Fold& fold : k_folds(12, 4, {.seed = 4, .stratify = kLabels})) {
    double class_1_count = 0;
    for (const double row : fold.test.to_vector())
      class_1_count += kLabels.to_vector()[size_t(row)];
    CHECK(fold.test.size() == 3);
    CHECK(class_1_count == 2);
  }
}

TEST_CASE("folds refuse a number that the rows do not have") {
  CHECK_THROWS_WITH(k_folds(4, 1), "folds: expected k from 2 to the number of rows, 4, got 1");
  CHECK_THROWS_WITH(k_folds(4, 5), "folds: expected k from 2 to the number of rows, 4, got 5");
}

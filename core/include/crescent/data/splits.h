// Rows in parts: two to train on and to test with, or k folds for cross-validation.
//
//   auto [train, test] = split_arrays({x, y}, 0.2, {.seed = 1, .stratify = y});
//   for (const Fold& fold : k_folds(x.dim(0), 5))
//     model->fit({ops::take(x, fold.train, 0)}, {ops::take(y, fold.train, 0)});
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

struct SplitOptions {
  bool shuffle = true;               ///< without it rows keep their order
  std::optional<int64_t> seed = {};  ///< none: drawn from global_random()
  Tensor stratify = {};  ///< a label for each row: every part has its share of each class
};

/// The arrays (rows, ...) twice: with the rows that stay, and with the last `share` of them,
/// rounded, of every class. Fails unless 0 < share < 1, all arrays have the same number of rows,
/// and both parts have some.
CRESCENT_API std::pair<Tensors, Tensors> split_arrays(const Tensors& arrays, double share = 0.25,
                                                      const SplitOptions& options = {});

/// Numbers of rows, int32 (rows), ascending.
struct Fold {
  Tensor train, test;
};
/// k ways to cut `rows` rows into those to train on and those to test with; each row is in one
/// `test`. Fails unless 2 <= k <= rows.
CRESCENT_API std::vector<Fold> k_folds(int64_t rows, int64_t k = 5,
                                       const SplitOptions& options = {});

}  // namespace crescent

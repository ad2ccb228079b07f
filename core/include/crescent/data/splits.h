// Splits of rows into a training and a test part, or into k folds for cross-validation.
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

/// The options of split_arrays() and k_folds().
struct SplitOptions {
  bool shuffle = true;               ///< whether rows are shuffled; otherwise they keep their order
  std::optional<int64_t> seed = {};  ///< nullopt: drawn from global_random()
  Tensor stratify = {};  ///< a label for each row; both parts get the same fraction of every class
};

/// Splits arrays (rows, ...) into arrays of the training rows and arrays of the test rows. The
/// fraction `share` of the rows, rounded to a whole number, are test rows. Fails unless 0 < share <
/// 1, all arrays have the same number of rows, and neither part is empty.
CRESCENT_API std::pair<Tensors, Tensors> split_arrays(const Tensors& arrays, double share = 0.25,
                                                      const SplitOptions& options = {});

/// The indices of the rows to train on and to test with, int32 (rows), ascending.
struct Fold {
  Tensor train, test;
};
/// The k folds of `rows` rows; each row is in the `test` part of exactly one fold. Fails unless 2
/// <= k <= rows.
CRESCENT_API std::vector<Fold> k_folds(int64_t rows, int64_t k = 5,
                                       const SplitOptions& options = {});

}  // namespace crescent

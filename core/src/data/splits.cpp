#include "crescent/data/splits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"

namespace crescent {
namespace {

using RowIndices = std::vector<int32_t>;

RowIndices first_indices(int64_t count) {
  RowIndices rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

void shuffle_rows(RowIndices& rows, const SeedGenerator& random) {
  const auto count = static_cast<int64_t>(rows.size());
  const std::vector<double> keys = random.uniform({count}, 0, 1, DType::float64).to_vector();
  RowIndices order = first_indices(count);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return keys[a] < keys[b]; });
  RowIndices shuffled_rows;
  for (const int32_t index : order) shuffled_rows.push_back(rows[index]);
  rows = std::move(shuffled_rows);
}

/// The indices of the rows of each class; without labels, all rows are one class.
std::vector<RowIndices> rows_by_class(int64_t count, const Tensor& labels) {
  if (!labels) return {first_indices(count)};
  if (labels.size() != count)
    fail("stratify: expected a label for each of ", count, " rows, got shape ", labels.shape());
  std::map<double, RowIndices> groups;
  const std::vector<double> values = labels.to_vector();
  for (size_t i = 0; i < values.size(); ++i) groups[values[i]].push_back(int32_t(i));
  std::vector<RowIndices> result;
  for (auto& [label, rows] : groups) result.push_back(std::move(rows));
  return result;
}

std::vector<RowIndices> shuffled_groups(int64_t count, const SplitOptions& options) {
  const SeedGenerator random = options.seed ? SeedGenerator(*options.seed) : global_random();
  std::vector<RowIndices> groups = rows_by_class(count, options.stratify);
  if (options.shuffle)
    for (RowIndices& rows : groups) shuffle_rows(rows, random);
  return groups;
}

Tensor index_tensor(RowIndices rows, bool sorted) {
  if (sorted) std::sort(rows.begin(), rows.end());
  return Tensor::from(rows, {static_cast<int64_t>(rows.size())});
}

/// The number of rows, which must be the same in all arrays.
int64_t common_rows(const Tensors& arrays) {
  if (arrays.empty() || arrays.front().rank() == 0) fail("split: expected arrays of rows");
  const int64_t count = arrays.front().dim(0);
  for (const Tensor& array : arrays)
    if (array.rank() == 0 || array.dim(0) != count)
      fail("split: expected arrays of ", count, " rows each, got shape ", array.shape());
  return count;
}

Tensors rows_of_each(const Tensors& arrays, const Tensor& rows) {
  Tensors result;
  for (const Tensor& array : arrays) result.push_back(ops::gather(array, rows, 0));
  return result;
}

Fold fold_for(size_t test_part, const std::vector<RowIndices>& parts) {
  RowIndices other_rows;
  for (size_t j = 0; j < parts.size(); ++j)
    if (j != test_part) other_rows.insert(other_rows.end(), parts[j].begin(), parts[j].end());
  return {index_tensor(std::move(other_rows), true), index_tensor(parts[test_part], true)};
}

}  // namespace

std::pair<Tensors, Tensors> split_arrays(const Tensors& arrays, double share,
                                         const SplitOptions& options) {
  if (!(share > 0 && share < 1)) fail("split: share must be between 0 and 1, got ", share);
  const int64_t count = common_rows(arrays);
  RowIndices first_rows, second_rows;
  for (const RowIndices& rows : shuffled_groups(count, options)) {
    const auto first_count = rows.size() - size_t(std::llround(share * double(rows.size())));
    first_rows.insert(first_rows.end(), rows.begin(), rows.begin() + long(first_count));
    second_rows.insert(second_rows.end(), rows.begin() + long(first_count), rows.end());
  }
  if (first_rows.empty() || second_rows.empty())
    fail("split: ", count, " rows are not enough for two parts with share = ", share);
  const bool keeps_order = !options.shuffle;
  return {rows_of_each(arrays, index_tensor(std::move(first_rows), keeps_order)),
          rows_of_each(arrays, index_tensor(std::move(second_rows), keeps_order))};
}

std::vector<Fold> k_folds(int64_t rows, int64_t k, const SplitOptions& options) {
  if (k < 2 || k > rows)
    fail("folds: expected k from 2 to the number of rows, ", rows, ", got ", k);
  std::vector<RowIndices> parts(k);
  size_t next_row = 0;
  for (const RowIndices& group : shuffled_groups(rows, options))
    for (const int32_t row : group) parts[next_row++ % parts.size()].push_back(row);
  std::vector<Fold> folds;
  for (size_t i = 0; i < parts.size(); ++i) folds.push_back(fold_for(i, parts));
  return folds;
}

}  // namespace crescent

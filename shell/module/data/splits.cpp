#include "data/splits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"
#include "values/read.h"

namespace crescent::lua {
namespace {

using RowIndices = std::vector<int32_t>;

void mix(RowIndices& rows, const SeedGenerator& random) {
  const std::vector<double> keys =
      random.uniform({static_cast<int64_t>(rows.size())}, 0, 1, DType::float64).to_vector();
  RowIndices order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return keys[a] < keys[b]; });
  RowIndices mixed;
  for (const int32_t place : order) mixed.push_back(rows[place]);
  rows = std::move(mixed);
}

/// The rows of each class, or all of them.
std::vector<RowIndices> groups_of(int64_t count, const Tensor& labels) {
  if (!labels) {
    RowIndices all(static_cast<size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return {all};
  }
  if (labels.size() != count)
    fail("stratify: expected a label for each of ", count, " rows, got shape ", labels.shape());
  std::map<double, RowIndices> groups;
  const std::vector<double> values = labels.to_vector();
  for (size_t i = 0; i < values.size(); ++i) groups[values[i]].push_back(int32_t(i));
  std::vector<RowIndices> all;
  for (auto& [label, rows] : groups) all.push_back(std::move(rows));
  return all;
}

struct SplitOptions {
  bool shuffle;
  std::optional<int64_t> seed;
  const Tensor& labels;
};

std::vector<RowIndices> mixed_groups(int64_t count, const SplitOptions& options) {
  const SeedGenerator random = options.seed ? SeedGenerator(*options.seed) : global_random();
  std::vector<RowIndices> groups = groups_of(count, options.labels);
  if (options.shuffle)
    for (RowIndices& rows : groups) mix(rows, random);
  return groups;
}

Tensor tensor_of(RowIndices rows, bool sorted) {
  if (sorted) std::sort(rows.begin(), rows.end());
  return Tensor::from(rows, {static_cast<int64_t>(rows.size())});
}

/// The arrays' rows in the form in which the arrays came: one, or a table of them.
void push_rows(lua_State* L, const Tensors& arrays, const Tensor& rows) {
  OneOrMore<Tensor> taken;
  for (const Tensor& array : arrays) taken.items.push_back(ops::take(array, rows, 0));
  push(L, taken);
}

/// The last `share` of the rows (of each class) become the second part.
std::tuple<OnStack, OnStack> split(Any data, double share, bool shuffle,
                                   std::optional<int64_t> seed, const Tensor& stratify) {
  if (!(share > 0 && share < 1)) fail("split: share must be between 0 and 1, got ", share);
  const Tensors arrays = to_tensors(current(), data.index);
  if (arrays.empty() || arrays.front().rank() == 0) fail("split: expected arrays of rows");
  const int64_t count = arrays.front().dim(0);
  for (const Tensor& array : arrays)
    if (array.rank() == 0 || array.dim(0) != count)
      fail("split: expected arrays of ", count, " rows each, got shape ", array.shape());
  RowIndices first, second;
  for (const RowIndices& rows : mixed_groups(count, {shuffle, seed, stratify})) {
    const auto kept = rows.size() - size_t(std::llround(share * double(rows.size())));
    first.insert(first.end(), rows.begin(), rows.begin() + long(kept));
    second.insert(second.end(), rows.begin() + long(kept), rows.end());
  }
  if (first.empty() || second.empty())
    fail("split: ", count, " rows are not enough for two parts with share = ", share);
  lua_State* L = current();
  const bool sorted = !shuffle;
  push_rows(L, arrays, tensor_of(std::move(first), sorted));
  push_rows(L, arrays, tensor_of(std::move(second), sorted));
  return {};
}

/// k ways to cut the rows into those to train on and those to test on.
OnStack folds(Any rows, int64_t k, bool shuffle, std::optional<int64_t> seed, bool stratify) {
  lua_State* L = current();
  const bool number = lua_isinteger(L, rows.index);
  const Tensor labels = number ? Tensor() : to_tensor(L, rows.index);
  if (labels && labels.rank() == 0) fail("folds: expected a number of rows, or labels");
  if (stratify && !labels) fail("folds: stratify = true needs labels, got a number of rows");
  const int64_t count = number ? lua_tointeger(L, rows.index) : labels.dim(0);
  if (k < 2 || k > count)
    fail("folds: expected k from 2 to the number of rows, ", count, ", got ", k);
  const Tensor by_class = stratify ? labels : Tensor();
  std::vector<RowIndices> parts(static_cast<size_t>(k));
  size_t next = 0;
  for (const RowIndices& group : mixed_groups(count, {shuffle, seed, by_class}))
    for (const int32_t row : group) parts[next++ % parts.size()].push_back(row);
  lua_createtable(L, static_cast<int>(k), 0);
  for (size_t i = 0; i < parts.size(); ++i) {
    RowIndices others;
    for (size_t j = 0; j < parts.size(); ++j)
      if (j != i) others.insert(others.end(), parts[j].begin(), parts[j].end());
    lua_createtable(L, 0, 2);
    push(L, tensor_of(std::move(others), true));
    lua_setfield(L, -2, "train");
    push(L, tensor_of(parts[i], true));
    lua_setfield(L, -2, "test");
    lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
  }
  return {};
}

}  // namespace

std::vector<CallablePtr> split_functions() {
  std::vector<CallablePtr> all;
  all.push_back(bound("split", &split,
                      {"arrays", "share=0.25", "shuffle=true", "seed=nil", "stratify=nil"},
                      "Arrays (one, or a table) in two parts; the second has `share` of the rows, "
                      "with stratify = labels of every class."));
  all.push_back(
      bound("folds", &folds, {"rows", "k=5", "shuffle=true", "seed=nil", "stratify=false"},
            "Of a number of rows, or of labels, a table of k {train = rows, test = rows}; "
            "cr.ops.take(x, rows) gets them."));
  return all;
}

}  // namespace crescent::lua

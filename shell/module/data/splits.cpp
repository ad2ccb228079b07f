#include "data/splits.h"

#include "crescent/data/splits.h"
#include "values/read.h"

namespace crescent::lua {
namespace {

/// The training part and the test part; each is a tensor or a table of tensors, as `data` is.
std::tuple<OneOrMore<Tensor>, OneOrMore<Tensor>> split(Any data, double share, bool shuffle,
                                                       std::optional<int64_t> seed,
                                                       const Tensor& stratify) {
  auto [train, test] =
      split_arrays(to_tensors(current(), data.index), share, {shuffle, seed, stratify});
  return {{std::move(train)}, {std::move(test)}};
}

/// Pushes a table {train = rows, test = rows} for each fold.
OnStack push_folds(lua_State* L, const std::vector<Fold>& folds) {
  lua_createtable(L, static_cast<int>(folds.size()), 0);
  for (size_t i = 0; i < folds.size(); ++i) {
    lua_createtable(L, 0, 2);
    push(L, folds[i].train);
    lua_setfield(L, -2, "train");
    push(L, folds[i].test);
    lua_setfield(L, -2, "test");
    lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
  }
  return {};
}

OnStack folds(Any rows, int64_t k, bool shuffle, std::optional<int64_t> seed, bool stratify) {
  lua_State* L = current();
  const bool is_count = lua_isinteger(L, rows.index);
  const Tensor labels = is_count ? Tensor() : to_tensor(L, rows.index);
  if (labels && labels.rank() == 0) fail("folds: expected a number of rows, or labels");
  if (stratify && !labels) fail("folds: stratify = true needs labels, got a number of rows");
  const int64_t count = is_count ? lua_tointeger(L, rows.index) : labels.dim(0);
  return push_folds(L, k_folds(count, k, {shuffle, seed, stratify ? labels : Tensor()}));
}

}  // namespace

std::vector<CallablePtr> split_functions() {
  std::vector<CallablePtr> callables;
  callables.push_back(
      bound("split", &split,
            {"arrays: a tensor or a structure of them", "share=0.25", "shuffle=true", "seed=nil",
             "stratify=nil"},
            "Splits arrays (one, or a table of several) into two parts, the second with a fraction "
            "`share` of the rows; stratify = labels applies the fraction to every class."));
  callables.push_back(
      bound("folds -> a list of pairs of index tensors", &folds,
            {"rows: an integer or a tensor", "k=5", "shuffle=true", "seed=nil", "stratify=false"},
            "Splits a number of rows, or labels, for k-fold cross-validation: a list of k {train = "
            "rows, test = rows}, which count from 0: cr.ops.take(x, rows, 0) selects them, and "
            "x[rows + 1]."));
  return callables;
}

}  // namespace crescent::lua

// Sorting, searching in sorted arrays, and counting. Functions whose output shape depends on values
// fail while a program is recorded.
#pragma once
#include <tuple>

#include "crescent/ops/ops.h"

namespace crescent::ops {

/// Stable sort; NaN counts as larger than all numbers.
CRESCENT_API Tensor sort(const Tensor& x, std::optional<int64_t> axis = -1,
                         bool descending = false);
/// The indices that sort x; equal elements keep their order.
CRESCENT_API Tensor argsort(const Tensor& x, std::optional<int64_t> axis = -1,
                            bool descending = false);
/// Indices that put the kth smallest element at position kth, the smaller ones before it and the
/// larger ones after it; fails if kth is out of range.
CRESCENT_API Tensor argpartition(const Tensor& x, int64_t kth, std::optional<int64_t> axis = -1);
/// For each value, how many of the sorted numbers (n) are below it or, for side "right", not above
/// it.
CRESCENT_API Tensor searchsorted(const Tensor& sorted, const Tensor& values,
                                 const std::string& side = "left");
/// For each number of x, how many of the sorted edges `bins` are at most that number, which is the
/// index of its bin.
CRESCENT_API Tensor digitize(const Tensor& x, const Tensor& bins);
/// How often each of the numbers 0, 1, ... occurs in x, or the sum of the weights of its
/// occurrences. The result has at least minlength elements.
CRESCENT_API Tensor bincount(const Tensor& x, const Tensor& weights = {}, int64_t minlength = 0);
/// A histogram of x: counts and bin edges; `range` is {low, high}, by default the minimum and
/// maximum of x.
CRESCENT_API std::tuple<Tensor, Tensor> histogram(const Tensor& x, int64_t bins = 10,
                                                  const std::vector<double>& range = {});
/// The indices of nonzero elements, one tensor per axis.
CRESCENT_API Tensors nonzero(const Tensor& x);

struct UniqueOptions {
  /// Whether these results are computed besides the values.
  bool index = false, inverse = false, counts = false;
  std::optional<int64_t> axis = {};       ///< nullopt: x is flattened
  std::optional<int64_t> size = {};       ///< if given, the values are cut or padded to this size
  std::optional<double> fill_value = {};  ///< what pads the values; nullopt: 0
};
/// `index`, `inverse` and `counts` are int32 tensors, or empty Tensors unless they were requested:
/// the position of the first occurrence of each value; for each element of x, the position of its
/// value, in the shape of x (with an axis: one position for each slice); and how often each value
/// occurs.
struct UniqueResult {
  Tensor values, index, inverse, counts;
};
/// The distinct elements in ascending order, or the distinct slices along an axis.
CRESCENT_API UniqueResult unique(const Tensor& x, const UniqueOptions& options = {});

}  // namespace crescent::ops

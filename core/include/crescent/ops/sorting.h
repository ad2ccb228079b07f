// Order: sorting, places in sorted lists, counting. What has a size that depends on values fails
// while a program is recorded.
#pragma once
#include <tuple>

#include "crescent/ops/ops.h"

namespace crescent::ops {

/// In ascending order, or descending; equals as they came, NaN is the largest.
CRESCENT_API Tensor sort(const Tensor& x, std::optional<int64_t> axis = -1,
                         bool descending = false);
/// Places in such an order; stable.
CRESCENT_API Tensor argsort(const Tensor& x, std::optional<int64_t> axis = -1,
                            bool descending = false);
CRESCENT_API Tensor argpartition(const Tensor& x, int64_t kth, std::optional<int64_t> axis = -1);
/// How many of the sorted numbers (n) are below each value, or not above it: the side is "right".
CRESCENT_API Tensor searchsorted(const Tensor& sorted, const Tensor& values,
                                 const std::string& side = "left");
CRESCENT_API Tensor digitize(const Tensor& x, const Tensor& bins);  ///< the bin of each number
/// How often each number from 0 on is there, or the sum of its weights; at least minlength of them.
CRESCENT_API Tensor bincount(const Tensor& x, const Tensor& weights = {}, int64_t minlength = 0);
/// Counts and the edges of the bins, between two numbers or the least and the largest.
CRESCENT_API std::tuple<Tensor, Tensor> histogram(const Tensor& x, int64_t bins = 10,
                                                  const std::vector<double>& range = {});
/// Places of what is not zero, a tensor an axis.
CRESCENT_API Tensors nonzero(const Tensor& x);

struct UniqueOptions {
  bool index = false, inverse = false, counts = false;  ///< what is wanted beside the values
  std::optional<int64_t> axis = {};                     ///< of the flattened tensor without
  std::optional<int64_t> size = {};                     ///< cut or filled to so many
  std::optional<double> fill_value = {};
};
struct UniqueResult {
  Tensor values, index, inverse, counts;
};
/// The different elements in ascending order, or rows of an axis.
CRESCENT_API UniqueResult unique(const Tensor& x, const UniqueOptions& options = {});

}  // namespace crescent::ops

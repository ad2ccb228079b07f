// Operations on the order of numbers: sorting, ranks, positions in sorted lists, counting.
#include "crescent/ops/sorting.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

std::tuple<Tensor, Tensor> top_k(const Tensor& x, int64_t k, bool /*sorted: they always are*/) {
  const Tensors result = ops::top_k(x, k);
  return {result[0], result[1]};
}

Tensor bincount(const Tensor& x, const Tensor& weights, int64_t minlength, bool sparse) {
  if (sparse) fail("bincount: sparse = true is not supported: there are no sparse tensors");
  return ops::bincount(x, weights, minlength);
}

Value unique(const Tensor& x, bool /*sorted: they always are*/, bool return_index,
             bool return_inverse, bool return_counts, std::optional<int64_t> axis,
             std::optional<int64_t> size, std::optional<double> fill_value) {
  const ops::UniqueResult unique_result =
      ops::unique(x, {return_index, return_inverse, return_counts, axis, size, fill_value});
  List results{Codec<Tensor>::encode(unique_result.values)};
  for (const Tensor& tensor : {unique_result.index, unique_result.inverse, unique_result.counts})
    if (tensor) results.push_back(Codec<Tensor>::encode(tensor));
  return results.size() == 1 ? results.front() : Value(std::move(results));
}

}  // namespace

CRESCENT_REGISTER(sorting) {
  Operations(registry, "keras.src.ops.math")
      .add("TopK", "top_k(x, k, sorted=True)", &top_k,
           "The k largest elements along the last axis and their indices, from 0.")
      .add("InTopK", "in_top_k(targets, predictions, k)", &ops::in_top_k,
           "Whether the target class, from 0, is among the k largest predictions.");
  Operations(registry, "keras.src.ops.numpy")
      .add("Sort", "sort(x, axis=-1, descending=False)", &ops::sort,
           "Sorts x along an axis, stably, in ascending or descending order.")
      .add("Argsort", "argsort(x, axis=-1, descending=False)", &ops::argsort,
           "The indices, from 0, that sort x along an axis, stably, in ascending or descending "
           "order.")
      .add("Argpartition", "argpartition(x, kth, axis=-1)", &ops::argpartition,
           "Indices, from 0, that partition x: the kth smallest element is at position kth, "
           "smaller ones "
           "are before it.")
      .add("SearchSorted", "searchsorted(sorted_sequence, values, side='left')", &ops::searchsorted,
           "The indices, from 0, at which values would be inserted into a sorted sequence.")
      .add("Digitize", "digitize(x, bins)", &ops::digitize,
           "The index of the bin that each number belongs to; 0 is before the first edge.")
      .add("Bincount", "bincount(x, weights=None, minlength=0, sparse=False)", &bincount,
           "How often each number from 0 on occurs, or the sum of its weights.")
      .add("Histogram", "histogram(x, bins=10, range=None)", &ops::histogram,
           "The counts of a histogram and the edges of its bins.")
      .add("Nonzero", "nonzero(x)", &ops::nonzero,
           "The indices, from 0, of the elements that are not zero, one tensor for each axis.")
      .add("Unique",
           "unique(x, sorted=True, return_index=False, return_inverse=False, return_counts=False, "
           "axis=None, size=None, fill_value=None)",
           &unique, "The distinct values in ascending order.");
}

}  // namespace crescent::operations

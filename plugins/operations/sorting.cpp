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
  if (sparse) fail("bincount: sparse=True is not supported: there are no sparse tensors");
  return ops::bincount(x, weights, minlength);
}

Value unique(const Tensor& x, bool /*sorted: they always are*/, bool return_index,
             bool return_inverse, bool return_counts, std::optional<int64_t> axis,
             std::optional<int64_t> size, std::optional<double> fill_value) {
  const ops::UniqueResult found =
      ops::unique(x, {return_index, return_inverse, return_counts, axis, size, fill_value});
  List results{Codec<Tensor>::encode(found.values)};
  for (const Tensor& each : {found.index, found.inverse, found.counts})
    if (each) results.push_back(Codec<Tensor>::encode(each));
  return results.size() == 1 ? results.front() : Value(std::move(results));
}

}  // namespace

CRESCENT_REGISTER(sorting) {
  Operations(registry, "keras.src.ops.math")
      .add("TopK", "top_k(x, k, sorted=True)", &top_k, "The k largest of the last axis, and where.")
      .add("InTopK", "in_top_k(targets, predictions, k)", &ops::in_top_k,
           "Whether the target is among the classes with the k largest predictions.");
  Operations(registry, "keras.src.ops.numpy")
      .add("Sort", "sort(x, axis=-1, descending=False)", &ops::sort,
           "x in rising order along an axis, or in falling order; equals as they came.")
      .add("Argsort", "argsort(x, axis=-1, descending=False)", &ops::argsort,
           "Places in ascending order, or in descending order; stable.")
      .add("Argpartition", "argpartition(x, kth, axis=-1)", &ops::argpartition,
           "Indices that put the kth smallest to its place, smaller ones before it.")
      .add("SearchSorted", "searchsorted(sorted_sequence, values, side='left')", &ops::searchsorted,
           "Where values would stand in a sorted sequence.")
      .add("Digitize", "digitize(x, bins)", &ops::digitize, "The bin of each number.")
      .add("Bincount", "bincount(x, weights=None, minlength=0, sparse=False)", &bincount,
           "How often each number occurs, or the sum of its weights.")
      .add("Histogram", "histogram(x, bins=10, range=None)", &ops::histogram, "Counts and edges.")
      .add("Nonzero", "nonzero(x)", &ops::nonzero, "Places of what is not zero, a tensor an axis.")
      .add("Unique",
           "unique(x, sorted=True, return_index=False, return_inverse=False, return_counts=False, "
           "axis=None, size=None, fill_value=None)",
           &unique, "The values that occur, each once.");
}

}  // namespace crescent::operations

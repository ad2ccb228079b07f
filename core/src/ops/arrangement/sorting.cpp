// Sorting, ranks, binary search, counting.
#include "crescent/ops/sorting.h"

#include <cmath>

#include "crescent/ops/reductions.h"
#include "ops/arrangement/segments.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

/// Sorts an axis by top_k of all its elements: values and indices. The sort is stable; NaN is the
/// largest value.
std::pair<Tensor, Tensor> sort_along_axis(const Tensor& input, std::optional<int64_t> axis,
                                          bool descending) {
  const auto [values_to_sort, positive_axis] = flat_without(input, axis);
  const int last_axis = values_to_sort.rank() - 1;
  const auto flip_if_ascending = [&](const Tensor& x) {
    return descending ? x : ops::flip(x, {last_axis});
  };
  const Tensor x =
      flip_if_ascending(ops::swap_axes(at_least_int32(values_to_sort), positive_axis, last_axis));
  const int64_t n = x.dim(-1);
  if (n < 0) fail("sort: the size of the axis must be known, got shape ", input.shape());
  if (n == 0) return {values_to_sort, ops::cast(values_to_sort, DType::int32)};
  const Tensors values_and_indices = ops::top_k(x, n);
  const auto restore_axes = [&](const Tensor& tensor) {
    return ops::swap_axes(flip_if_ascending(tensor), positive_axis, last_axis);
  };
  return {ops::cast(restore_axes(values_and_indices[0]), input.dtype()),
          restore_axes(descending ? values_and_indices[1]
                                  : ops::subtract(n - 1, values_and_indices[1]))};
}

/// The number of sorted elements that are less than (or, with `after_equal`, at most) each value.
Tensor insertion_positions(const Tensor& sorted, const Tensor& values, bool after_equal) {
  if (sorted.rank() != 1) fail("expected sorted numbers of one axis, got shape ", sorted.shape());
  const auto [sorted_numbers, searched_values] = promoted(sorted, values);
  Searchsorted op;
  op.right = after_equal;
  return apply1(op, {without_halves(sorted_numbers), without_halves(searched_values)});
}

Tensor counts_of(const Tensor& x, int64_t count) {
  Bincount op;
  op.count = count;
  return apply1(op, {without_halves(x)});
}

Tensor counts_between(const Tensor& x, const Tensor& edges) {
  Bincount op;
  op.count = edges.dim(0) - 1;
  return apply1(op, {without_halves(x), without_halves(edges)});
}

}  // namespace

Tensor sort(const Tensor& x, std::optional<int64_t> axis, bool descending) {
  return sort_along_axis(x, axis, descending).first;
}
Tensor argsort(const Tensor& x, std::optional<int64_t> axis, bool descending) {
  return sort_along_axis(x, axis, descending).second;
}

/// Sorts the axis completely: a sorted axis is partitioned at every position, and therefore at kth.
Tensor argpartition(const Tensor& x, int64_t kth, std::optional<int64_t> axis) {
  const int64_t n = flat_without(x, axis).first.dim(flat_without(x, axis).second);
  if (kth < -n || kth >= n) fail("argpartition: kth ", kth, " is out of range for ", n);
  return argsort(x, axis);
}

Tensor searchsorted(const Tensor& sorted, const Tensor& values, const std::string& side) {
  if (side != "left" && side != "right")
    fail("searchsorted: side must be 'left' or 'right', got '", side, "'");
  return insertion_positions(sorted, values, side == "right");
}

Tensor digitize(const Tensor& x, const Tensor& bins) { return insertion_positions(bins, x, true); }

Tensor bincount(const Tensor& x, const Tensor& weights, int64_t minlength) {
  if (x.is_abstract())
    fail("bincount: how many numbers there are is not known while a program is recorded");
  const auto refuse_negative = [&] {
    if (const double smallest_number = ops::min(x).item(); smallest_number < 0)
      fail("bincount: expected numbers from 0, got ", smallest_number);
  };
  if (weights && x.size() > 0) refuse_negative();
  const int64_t largest_number = x.size() == 0 ? -1 : static_cast<int64_t>(ops::max(x).item());
  const int64_t count = std::max(minlength, largest_number + 1);
  const auto counts_of_row = [&](const Tensor& row, const Tensor& row_weights) {
    // The minimum and maximum computed above show that integers are in range. Floats may be NaN,
    // which they do not show.
    if (row_weights && is_integer(x.dtype()))
      return sum_of_valid_segments(at_least_int32(row_weights), row, count);
    if (row_weights) return sum_of_segments(at_least_int32(row_weights), row, count);
    const Tensor row_counts = counts_of(row, count);
    // Negative elements are not counted. Comparing the sum of the counts with the number of
    // elements is cheaper than searching for a negative element.
    if (static_cast<int64_t>(ops::sum(row_counts).item()) != row.size()) refuse_negative();
    return row_counts;
  };
  if (x.rank() == 1) return counts_of_row(x, weights);
  Tensors rows_of_counts;
  for (int64_t i = 0; i < x.dim(0); ++i)
    rows_of_counts.push_back(
        counts_of_row(ops::squeeze(ops::slice_axis(x, 0, i, i + 1), 0),
                      weights ? ops::squeeze(ops::slice_axis(weights, 0, i, i + 1), 0) : Tensor()));
  return ops::stack(rows_of_counts, 0);
}

std::tuple<Tensor, Tensor> histogram(const Tensor& input, int64_t bins,
                                     const std::vector<double>& range) {
  if (input.rank() != 1) fail("histogram: expected one axis, got shape ", input.shape());
  if (bins < 1) fail("histogram: expected at least one bin, got ", bins);
  if (!range.empty() && (range.size() != 2 || !(range[0] <= range[1])))
    fail("histogram: range must be two numbers, the lower one first, got ", Value(range));
  const DType dtype = floating(ops::zeros({}, input.dtype())).dtype();
  const Tensor x =
      ops::reshape(is_floating(input.dtype()) ? input : ops::cast(input, DType::float64), {-1});
  const auto range_bound = [&](size_t i, Tensor (*extreme)(const Tensor&, const ops::Axes&, bool)) {
    return range.empty() ? ops::cast(extreme(x, {}, false), DType::float64)
                         : Tensor::scalar(range[i], DType::float64);
  };
  Tensor low = range_bound(0, ops::min), high = range_bound(1, ops::max);
  const Tensor is_constant = ops::equal(low, high);
  low = ops::where(is_constant, low - 0.5, low), high = ops::where(is_constant, high + 0.5, high);
  // As in NumPy, the edges are multiples of the step, computed in double precision, and the last
  // edge is exactly `high`.
  const Tensor step = (high - low) / static_cast<double>(bins);
  const Tensor lower_edges = low + ops::cast(ops::arange(bins), DType::float64) * step;
  const Tensor edges =
      ops::cast(ops::concatenate(Tensors{lower_edges, ops::reshape(high, {1})}, 0), x.dtype());
  return {ops::cast(counts_between(x, edges), dtype), ops::cast(edges, dtype)};
}

}  // namespace crescent::ops

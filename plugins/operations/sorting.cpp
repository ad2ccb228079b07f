// Order: sorting, ranks, places in sorted lists, counting.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "crescent/registry/registration.h"
#include "families.h"
#include "kernels/bincount.h"
#include "kernels/searchsorted.h"
#include "segments.h"
#include "shared/host.h"

namespace crescent::operations {
namespace {

/// top_k of all, along an axis, from back to front: values and places in ascending order, equals as
/// they came, NaN last.
std::pair<Tensor, Tensor> ascending(const Tensor& given, std::optional<int64_t> axis) {
  const auto [flat, along] = flat_without(given, axis);
  const int last = flat.rank() - 1;
  const Tensor x = ops::flip(ops::swap_axes(at_least_int32(flat), along, last), {last});
  const int64_t n = x.dim(-1);
  if (n < 0) fail("sort: the size of the axis must be known, got shape ", given.shape());
  if (n == 0) return {flat, ops::cast(flat, DType::int32)};
  const Tensors sorted = ops::top_k(x, n);
  const auto turned = [&](const Tensor& each) {
    return ops::swap_axes(ops::flip(each, {last}), along, last);
  };
  return {ops::cast(turned(sorted[0]), given.dtype()), turned(ops::subtract(n - 1, sorted[1]))};
}

Tensor sort(const Tensor& x, std::optional<int64_t> axis) { return ascending(x, axis).first; }
Tensor argsort(const Tensor& x, std::optional<int64_t> axis) { return ascending(x, axis).second; }

/// A full sort is a partition at every place.
Tensor argpartition(const Tensor& x, int64_t kth, std::optional<int64_t> axis) {
  const int64_t n = flat_without(x, axis).first.dim(flat_without(x, axis).second);
  if (kth < -n || kth >= n) fail("argpartition: kth ", kth, " is out of range for ", n);
  return argsort(x, axis);
}

std::tuple<Tensor, Tensor> top_k(const Tensor& x, int64_t k, bool /*sorted: they always are*/) {
  const Tensors result = ops::top_k(at_least_int32(x), k);
  return {ops::cast(result[0], x.dtype()), result[1]};
}

/// How many of the sorted numbers are below (or not above) each value.
Tensor places_of(const Tensor& sorted, const Tensor& values, bool right) {
  if (sorted.rank() != 1) fail("expected sorted numbers of one axis, got shape ", sorted.shape());
  const auto [line, each] = promoted(sorted, values);
  return apply_searchsorted(line, each, right);
}

Tensor searchsorted(const Tensor& sorted, const Tensor& values, const std::string& side) {
  if (side != "left" && side != "right")
    fail("searchsorted: side must be 'left' or 'right', got '", side, "'");
  return places_of(sorted, values, side == "right");
}

Tensor digitize(const Tensor& x, const Tensor& bins) { return places_of(bins, x, true); }

/// How often each number is there; as many as the largest asks for, or minlength.
Tensor bincount(const Tensor& x, const Tensor& weights, int64_t minlength, bool sparse) {
  if (sparse) fail("bincount: sparse=True is not supported: there are no sparse tensors");
  if (x.is_abstract())
    fail("bincount: how many numbers there are is not known while a program is recorded");
  const auto refuse_negative = [&] {
    if (const double least = ops::min(x).item(); least < 0)
      fail("bincount: expected numbers from 0, got ", least);
  };
  if (weights && x.size() > 0) refuse_negative();
  const int64_t largest = x.size() == 0 ? -1 : static_cast<int64_t>(ops::max(x).item());
  const int64_t count = std::max(minlength, largest + 1);
  const auto of_row = [&](const Tensor& row, const Tensor& weight) {
    if (weight) return segment_sum(at_least_int32(weight), row, count);
    const Tensor counts = apply_bincount(row, count);
    // Where some were not counted there is a negative one: cheaper than looking for it.
    if (static_cast<int64_t>(ops::sum(counts).item()) != row.size()) refuse_negative();
    return counts;
  };
  if (x.rank() == 1) return of_row(x, weights);
  Tensors rows;
  for (int64_t i = 0; i < x.dim(0); ++i)
    rows.push_back(
        of_row(ops::squeeze(ops::slice_axis(x, 0, i, i + 1), 0),
               weights ? ops::squeeze(ops::slice_axis(weights, 0, i, i + 1), 0) : Tensor()));
  return ops::stack(rows, 0);
}

std::tuple<Tensor, Tensor> histogram(const Tensor& given, int64_t bins,
                                     const std::vector<double>& range) {
  if (bins < 1) fail("histogram: expected at least one bin, got ", bins);
  if (!range.empty() && (range.size() != 2 || !(range[0] <= range[1])))
    fail("histogram: range must be two numbers, the lower one first, got ", Value(range));
  const DType dtype = floating(ops::zeros({}, given.dtype())).dtype();
  const Tensor x =
      ops::reshape(is_floating(given.dtype()) ? given : ops::cast(given, DType::float64), {-1});
  const auto limit = [&](size_t i, Tensor (*extreme)(const Tensor&, const ops::Axes&, bool)) {
    return range.empty() ? ops::cast(extreme(x, {}, false), DType::float64)
                         : Tensor::scalar(range[i], DType::float64);
  };
  Tensor low = limit(0, ops::min), high = limit(1, ops::max);
  const Tensor same = ops::equal(low, high);
  low = ops::where(same, low - 0.5, low), high = ops::where(same, high + 0.5, high);
  // As NumPy has them: whole steps from the first, in double precision, and the last as it is.
  const Tensor step = (high - low) / static_cast<double>(bins);
  const Tensor steps = low + ops::cast(ops::arange(bins), DType::float64) * step;
  const Tensor edges =
      ops::cast(ops::concatenate(Tensors{steps, ops::reshape(high, {1})}, 0), x.dtype());
  return {ops::cast(apply_histogram(x, edges), dtype), ops::cast(edges, dtype)};
}

// ---- sizes that only the values tell

void refuse_recording(const char* name, const Tensor& x) {
  if (x.is_abstract())
    fail(name,
         ": the size of the result depends on values, which are not known while a program is ",
         "recorded or a model is built");
}

Tensor int_list(const std::vector<int32_t>& values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())});
}

}  // namespace

Tensors nonzero(const Tensor& x) {
  refuse_recording("nonzero", x);
  const std::vector<double> values = x.to_vector();
  std::vector<std::vector<int32_t>> places(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    auto rest = static_cast<int64_t>(i);
    for (int axis = x.rank(); axis-- > 0; rest /= x.dim(axis))
      places[static_cast<size_t>(axis)].push_back(static_cast<int32_t>(rest % x.dim(axis)));
  }
  Tensors result;
  for (const auto& each : places) result.push_back(int_list(each));
  return result;
}

namespace {

/// The different rows in order, the place of the first of each, and (when it is asked for) which
/// one each row is.
struct Unique {
  std::vector<int32_t> first, inverse, counts;
};

/// Notes that row `at` is the next different one, or equals the one before.
void count_row(Unique& result, int32_t at, bool differs) {
  if (differs) result.first.push_back(at), result.counts.push_back(0);
  result.inverse[static_cast<size_t>(at)] = static_cast<int32_t>(result.first.size()) - 1;
  ++result.counts.back();
}

/// Of whole numbers from `low` on, `range` of them: each has a place of its own.
template <class T>
Unique unique_in_range(const T* x, size_t count, T low, size_t range, bool inverse) {
  constexpr int32_t kNone = -1;
  std::vector<int32_t> firsts(range, kNone), counts(range);
  const auto place = [&](size_t i) {
    return static_cast<size_t>(static_cast<int64_t>(x[i]) - static_cast<int64_t>(low));
  };
  for (size_t i = count; i-- > 0;) firsts[place(i)] = static_cast<int32_t>(i), ++counts[place(i)];
  Unique result;
  std::vector<int32_t>& numbers = counts;  // from here on: which one it is
  for (size_t i = 0; i < range; ++i) {
    if (firsts[i] == kNone) continue;
    result.first.push_back(firsts[i]), result.counts.push_back(counts[i]);
    numbers[i] = static_cast<int32_t>(result.first.size()) - 1;
  }
  if (!inverse) return result;
  result.inverse.resize(count);
  for (size_t i = 0; i < count; ++i) result.inverse[i] = numbers[place(i)];
  return result;
}

/// The lowest of whole numbers and how many there are from it to the highest, where that is not
/// much more than they are.
template <class T>
std::optional<std::pair<T, size_t>> small_range(const Tensor& numbers) {
  const auto count = static_cast<size_t>(numbers.size());
  if (!std::is_integral_v<T> || count == 0) return std::nullopt;
  if (std::is_same_v<T, bool>) return std::pair(T(), size_t{2});
  const auto number = [&](const Tensor& x) { return ops::cast(x, numbers.dtype()).data<T>()[0]; };
  const T low = number(ops::min(numbers)), high = number(ops::max(numbers));
  const auto range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (range >= 4 * count) return std::nullopt;
  return std::pair(low, static_cast<size_t>(range) + 1);
}

/// The different numbers in order, where they are of a small range.
template <class T>
std::optional<Tensor> different_in_range(const Tensor& numbers) {
  const auto found = small_range<T>(numbers);
  if (!found) return std::nullopt;
  const auto [low, range] = *found;
  std::vector<uint8_t> marks(range);
  for (const T x : std::span(numbers.data<T>(), static_cast<size_t>(numbers.size())))
    marks[static_cast<size_t>(static_cast<int64_t>(x) - static_cast<int64_t>(low))] = 1;
  Tensor result({static_cast<int64_t>(std::count(marks.begin(), marks.end(), 1))}, numbers.dtype());
  T* to = result.mutable_data<T>();
  for (size_t i = 0; i < range; ++i)
    if (marks[i]) *to++ = static_cast<T>(low + static_cast<T>(i));
  return result;
}

template <class T>
Unique unique_numbers(const Tensor& numbers, bool inverse) {
  const auto count = static_cast<size_t>(numbers.size());
  const T* x = numbers.data<T>();
  if (const auto found = small_range<T>(numbers))
    return unique_in_range(x, count, found->first, found->second, inverse);
  const Tensor order = argsort(ops::reshape(numbers, {-1}), -1);
  const auto* places = order.data<int32_t>();
  Unique result;
  result.inverse.resize(count);
  for (size_t i = 0; i < count; ++i)
    count_row(result, places[i], i == 0 || x[places[i]] != x[places[i - 1]]);
  return result;
}

Unique unique_rows(const Tensor& rows, bool inverse) {
  const auto count = static_cast<size_t>(rows.dim(0));
  const size_t width = count ? static_cast<size_t>(rows.size()) / count : 0;
  Unique result;
  if (width == 1 && size_of(rows.dtype()) != 2) {
    with_type(rows.dtype(), [&]<class T>(T) { result = unique_numbers<T>(rows, inverse); });
    return result;
  }
  const std::vector<double> values = rows.to_vector();
  const auto row = [&](int32_t i) {
    return std::span(values).subspan(static_cast<size_t>(i) * width, width);
  };
  std::vector<int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::lexicographical_compare(row(a).begin(), row(a).end(), row(b).begin(), row(b).end());
  });
  result.inverse.resize(count);
  for (size_t i = 0; i < count; ++i)
    count_row(result, order[i], i == 0 || !std::ranges::equal(row(order[i]), row(order[i - 1])));
  return result;
}

Value unique(const Tensor& given, bool /*sorted: they always are*/, bool return_index,
             bool return_inverse, bool return_counts, std::optional<int64_t> axis,
             std::optional<int64_t> size, std::optional<double> fill_value) {
  refuse_recording("unique", given);
  const auto [x, along] = flat_without(given, axis);
  const Tensor rows = ops::swap_axes(x, 0, along);
  Unique found;
  std::optional<Tensor> different;
  if (!return_index && !return_inverse && !return_counts && rows.rank() == 1 &&
      is_integer(rows.dtype()))
    with_type(rows.dtype(), [&]<class T>(T) { different = different_in_range<T>(rows); });
  if (!different) found = unique_rows(rows, return_inverse);
  Tensor values = different ? *different : ops::take(rows, int_list(found.first), 0);
  if (size) {
    const int64_t missing = *size - values.dim(0);
    std::vector<int64_t> before(static_cast<size_t>(values.rank()), 0), after = before;
    after[0] = std::max<int64_t>(0, missing);
    values = missing < 0 ? ops::slice_axis(values, 0, 0, *size)
                         : ops::pad(values, before, after, fill_value.value_or(0));
  }
  List results{Codec<Tensor>::encode(ops::swap_axes(values, 0, along))};
  if (return_index) results.push_back(Codec<Tensor>::encode(int_list(found.first)));
  if (return_inverse)
    results.push_back(Codec<Tensor>::encode(
        axis ? int_list(found.inverse) : ops::reshape(int_list(found.inverse), given.shape())));
  if (return_counts) results.push_back(Codec<Tensor>::encode(int_list(found.counts)));
  return results.size() == 1 ? results.front() : Value(std::move(results));
}

}  // namespace

CRESCENT_REGISTER(sorting) {
  Operations(registry, "keras.src.ops.math")
      .add("TopK", "top_k(x, k, sorted=True)", &top_k, "The k largest of the last axis, and where.")
      .add("InTopK", "in_top_k(targets, predictions, k)", &ops::in_top_k,
           "Whether the target is among the classes with the k largest predictions.");
  Operations(registry, "keras.src.ops.numpy")
      .add("Sort", "sort(x, axis=-1)", &sort, "x in rising order along an axis.")
      .add("Argsort", "argsort(x, axis=-1)", &argsort, "Places in ascending order; stable.")
      .add("Argpartition", "argpartition(x, kth, axis=-1)", &argpartition,
           "Indices that put the kth smallest to its place, smaller ones before it.")
      .add("SearchSorted", "searchsorted(sorted_sequence, values, side='left')", &searchsorted,
           "Where values would stand in a sorted sequence.")
      .add("Digitize", "digitize(x, bins)", &digitize, "The bin of each number.")
      .add("Bincount", "bincount(x, weights=None, minlength=0, sparse=False)", &bincount,
           "How often each number occurs, or the sum of its weights.")
      .add("Histogram", "histogram(x, bins=10, range=None)", &histogram, "Counts and edges.")
      .add("Nonzero", "nonzero(x)", &nonzero, "Places of what is not zero, a tensor an axis.")
      .add("Unique",
           "unique(x, sorted=True, return_index=False, return_inverse=False, return_counts=False, "
           "axis=None, size=None, fill_value=None)",
           &unique, "The values that occur, each once.");
}

}  // namespace crescent::operations

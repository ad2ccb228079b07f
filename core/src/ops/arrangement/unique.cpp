// Functions whose output size depends on values.
#include <numeric>

#include "crescent/ops/sorting.h"
#include "crescent/tensor/with_type.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

void refuse_recording(const char* name, const Tensor& x) {
  if (x.is_abstract())
    fail(name,
         ": the size of the result depends on values, which are not known while a program is ",
         "recorded or a model is built");
}

Tensor int_list(const std::vector<int32_t>& values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())});
}

/// The distinct rows in order. For each distinct row, `first_positions` has the index of its first
/// occurrence, and `counts` the number of its occurrences. If requested, `inverse` has, for each
/// row, the index of the distinct row that it equals.
struct DistinctRows {
  std::vector<int32_t> first_positions, inverse, counts;
};

/// Counts row `row_index`: as a new distinct row if `is_new`, else as equal to the last distinct
/// row.
void count_row(DistinctRows& result, int32_t row_index, bool is_new) {
  if (is_new) result.first_positions.push_back(row_index), result.counts.push_back(0);
  result.inverse[row_index] = static_cast<int32_t>(result.first_positions.size()) - 1;
  ++result.counts.back();
}

/// The distinct integers of x, which are at least `low`. They are counted in a table with a counter
/// for each of the `range_size` possible values.
template <class T>
DistinctRows unique_in_range(const T* x, size_t count, T low, size_t range_size,
                             bool needs_inverse) {
  constexpr int32_t kNotFound = -1;
  std::vector<int32_t> first_indices(range_size, kNotFound), counts(range_size);
  const auto table_index = [&](size_t i) {
    return static_cast<size_t>(static_cast<int64_t>(x[i]) - static_cast<int64_t>(low));
  };
  for (size_t i = count; i-- > 0;)
    first_indices[table_index(i)] = static_cast<int32_t>(i), ++counts[table_index(i)];
  DistinctRows result;
  // The memory of `counts` is used again: distinct_numbers[i] becomes the index of the value low +
  // i among the distinct values.
  std::vector<int32_t>& distinct_numbers = counts;
  for (size_t i = 0; i < range_size; ++i) {
    if (first_indices[i] == kNotFound) continue;
    result.first_positions.push_back(first_indices[i]), result.counts.push_back(counts[i]);
    distinct_numbers[i] = static_cast<int32_t>(result.first_positions.size()) - 1;
  }
  if (!needs_inverse) return result;
  result.inverse.resize(count);
  for (size_t i = 0; i < count; ++i) result.inverse[i] = distinct_numbers[table_index(i)];
  return result;
}

/// Returns the smallest element and the size of the range from the smallest to the largest element;
/// nullopt if this range is much larger than the number of elements.
template <class T>
std::optional<std::pair<T, size_t>> small_range(const Tensor& numbers) {
  const auto count = static_cast<size_t>(numbers.size());
  if (!std::is_integral_v<T> || count == 0) return std::nullopt;
  if (std::is_same_v<T, bool>) return std::pair(T(), size_t{2});
  const auto as_scalar = [&](const Tensor& x) {
    return ops::cast(x, numbers.dtype()).data<T>()[0];
  };
  const T low = as_scalar(ops::min(numbers)), high = as_scalar(ops::max(numbers));
  const auto range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (range >= 4 * count) return std::nullopt;
  return std::pair(low, static_cast<size_t>(range) + 1);
}

/// The distinct integers in order; nullopt if their range is not small.
template <class T>
std::optional<Tensor> distinct_in_range(const Tensor& numbers) {
  const auto value_range = small_range<T>(numbers);
  if (!value_range) return std::nullopt;
  const auto [low, range] = *value_range;
  std::vector<uint8_t> is_present(range);
  for (const T x : std::span(numbers.data<T>(), numbers.size()))
    is_present[static_cast<int64_t>(x) - static_cast<int64_t>(low)] = 1;
  Tensor result({static_cast<int64_t>(std::count(is_present.begin(), is_present.end(), 1))},
                numbers.dtype());
  T* target = result.mutable_data<T>();
  for (size_t i = 0; i < range; ++i)
    if (is_present[i]) *target++ = static_cast<T>(low + static_cast<T>(i));
  return result;
}

template <class T>
DistinctRows unique_numbers(const Tensor& numbers, bool needs_inverse) {
  const auto count = static_cast<size_t>(numbers.size());
  const T* x = numbers.data<T>();
  if (const auto range = small_range<T>(numbers))
    return unique_in_range(x, count, range->first, range->second, needs_inverse);
  const Tensor order = argsort(ops::reshape(numbers, {-1}), -1);
  const auto* sorted_indices = order.data<int32_t>();
  DistinctRows result;
  result.inverse.resize(count);
  for (size_t i = 0; i < count; ++i)
    count_row(result, sorted_indices[i],
              i == 0 || x[sorted_indices[i]] != x[sorted_indices[i - 1]]);
  return result;
}

DistinctRows unique_rows(const Tensor& rows, bool needs_inverse) {
  const auto count = static_cast<size_t>(rows.dim(0));
  const size_t width = count ? static_cast<size_t>(rows.size()) / count : 0;
  DistinctRows result;
  if (width == 1 && size_of(rows.dtype()) != 2) {
    with_type(rows.dtype(), [&]<class T>(T) { result = unique_numbers<T>(rows, needs_inverse); });
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

}  // namespace

Tensors nonzero(const Tensor& x) {
  refuse_recording("nonzero", x);
  const std::vector<double> values = x.to_vector();
  std::vector<std::vector<int32_t>> indices_by_axis(x.rank());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    auto remaining_index = static_cast<int64_t>(i);
    for (int axis = x.rank(); axis-- > 0; remaining_index /= x.dim(axis))
      indices_by_axis[axis].push_back(static_cast<int32_t>(remaining_index % x.dim(axis)));
  }
  Tensors result;
  for (const auto& axis_indices : indices_by_axis) result.push_back(int_list(axis_indices));
  return result;
}

UniqueResult unique(const Tensor& input, const UniqueOptions& options) {
  refuse_recording("unique", input);
  const auto [x, positive_axis] = flat_without(input, options.axis);
  const Tensor rows = ops::swap_axes(x, 0, positive_axis);
  DistinctRows distinct_rows;
  std::optional<Tensor> distinct_values;
  if (!options.index && !options.inverse && !options.counts && rows.rank() == 1 &&
      is_integer(rows.dtype()))
    with_type(rows.dtype(), [&]<class T>(T) { distinct_values = distinct_in_range<T>(rows); });
  if (!distinct_values) distinct_rows = unique_rows(rows, options.inverse);
  Tensor values = distinct_values ? *distinct_values
                                  : ops::gather(rows, int_list(distinct_rows.first_positions), 0);
  if (options.size) {
    const int64_t padding_size = *options.size - values.dim(0);
    std::vector<int64_t> before(values.rank(), 0), after = before;
    after[0] = std::max<int64_t>(0, padding_size);
    values = padding_size < 0 ? ops::slice_axis(values, 0, 0, *options.size)
                              : ops::pad(values, before, after, options.fill_value.value_or(0));
  }
  if (options.size) {
    distinct_rows.first_positions.resize(*options.size);
    distinct_rows.counts.resize(*options.size);
  }
  UniqueResult result{ops::swap_axes(values, 0, positive_axis), {}, {}, {}};
  if (options.index) result.index = int_list(distinct_rows.first_positions);
  if (options.inverse)
    result.inverse = options.axis ? int_list(distinct_rows.inverse)
                                  : ops::reshape(int_list(distinct_rows.inverse), input.shape());
  if (options.counts) result.counts = int_list(distinct_rows.counts);
  return result;
}

}  // namespace crescent::ops

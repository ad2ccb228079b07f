// Loops over the rows of a matrix that process several columns at a time.
#if defined(CRESCENT_CPU_COLUMNS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CRESCENT_CPU_COLUMNS_INL_H
#undef CRESCENT_CPU_COLUMNS_INL_H
#else
#define CRESCENT_CPU_COLUMNS_INL_H
#endif

#include <algorithm>
#include <type_traits>

#include "kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {

/// Calls f(n, load, store, fetch) for consecutive groups of columns that together are all columns.
/// A group has n vectors: load(row, v) reads vector v < n of a row, store(x, row, v) writes it, and
/// fetch(row, v) prefetches it. Values that all rows share can stay in registers.
template <class D, class F>
HWY_INLINE void for_columns(D d, int64_t columns, F&& f) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  auto group = [&](auto n) HWY_ATTR {
    for (; i + n * lanes <= columns; i += n * lanes) {
      f(
          n,
          [d, i, lanes](const auto* row, int v) HWY_ATTR { return load(d, row + i + v * lanes); },
          [d, i, lanes](hn::Vec<D> x, auto* row, int v)
              HWY_ATTR { store(x, d, row + i + v * lanes); },
          [i, lanes](const auto* row, int v) { __builtin_prefetch(row + i + v * lanes); });
    }
  };
  group(std::integral_constant<int, 4>()), group(std::integral_constant<int, 2>());
  for_vectors(d, columns - i, [&](auto load, auto store) HWY_ATTR {
    f(
        std::integral_constant<int, 1>(),
        [load, i](const auto* row, int) HWY_ATTR { return load(row + i); },
        [store, i](hn::Vec<D> x, auto* row, int) HWY_ATTR { store(x, row + i); },
        [i](const auto* row, int) { __builtin_prefetch(row + i); });
  });
}

/// Calls f(first, last, n, load, store), with the same functions as for_columns(), for rows [first,
/// last) at a time. Narrow rows are all passed in a single call. Each wide row gets a separate
/// call, which loads the values that all rows share again. This is faster because a wide row is
/// then read sequentially: for sequential reads, the hardware prefetcher is twice as fast as
/// software prefetches.
template <class D, class F>
HWY_INLINE void for_rows(D d, int64_t rows, int64_t columns, F&& f) {
  const bool is_wide = columns > 4 * static_cast<int64_t>(hn::Lanes(d));
  const int64_t count = is_wide ? 1 : rows;
  for (int64_t r = 0; r < rows; r += count) {
    for_columns(d, columns, [&](auto n, auto load, auto store, auto) HWY_ATTR {
      f(r, r + count, n, load, store);
    });
  }
}

/// The distance, in elements, from the current row to the row that for_columns() prefetches.
/// Software prefetches are needed for two reasons. A row of a few cache lines ends before the
/// hardware prefetcher detects the sequence. Of a wide row, only a few vectors are read before the
/// loop continues with the next row.
template <class T>
HWY_INLINE int64_t prefetch_distance(int64_t columns) {
  constexpr int64_t kPrefetchAhead = 4096 / sizeof(T), kReadElements = 256 / sizeof(T);
  return kPrefetchAhead / std::min(columns, kReadElements) * columns;
}

}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

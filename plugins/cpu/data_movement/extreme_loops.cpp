// Loops that find the index of the largest or smallest element (argmax, argmin): of a row, and of
// adjacent columns.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data_movement/extreme_loops.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "data_movement/sort_topk.h"
#include "kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

/// True when a is more extreme than b, which has the lower index; NaN counts as more extreme than
/// all numbers.
template <bool is_max, class T>
HWY_INLINE bool is_more_extreme(T a, T b) {
  const bool is_beyond = is_max ? a > b : a < b;
  if constexpr (std::is_floating_point_v<T>) return is_beyond | ((a != a) & (b == b));
  return is_beyond;
}

/// Number of elements that are read to find their extreme value, and read again, from the cache, to
/// find its index.
constexpr int64_t kChunkElements = 2048;

/// The largest (or smallest) value of a chunk.
template <bool is_max, class T>
HWY_INLINE T extreme_of(const T* x, int64_t n) {
  T best = x[0];
  int64_t i = 0;
  if constexpr (std::is_floating_point_v<T>) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    if (n >= lanes) {
      auto a = hn::LoadU(d, x), b = a;
      const auto update_extremes = [&](auto& extremes, auto next) HWY_ATTR {
        const auto is_beyond = is_max ? hn::Gt(next, extremes) : hn::Lt(next, extremes);
        extremes = hn::IfThenElse(hn::Or(is_beyond, hn::IsNaN(next)), next, extremes);
      };
      for (; i + 2 * lanes <= n; i += 2 * lanes)
        update_extremes(a, hn::LoadU(d, x + i)), update_extremes(b, hn::LoadU(d, x + i + lanes));
      for (; i + lanes <= n; i += lanes) update_extremes(a, hn::LoadU(d, x + i));
      update_extremes(a, b);
      if (!hn::AllFalse(d, hn::IsNaN(a))) return std::numeric_limits<T>::quiet_NaN();
      best = hn::GetLane(is_max ? hn::MaxOfLanes(d, a) : hn::MinOfLanes(d, a));
    }
  } else {
    for (; i < n; ++i) best = is_max ? std::max(best, x[i]) : std::min(best, x[i]);
  }
  for (; i < n; ++i)
    if (is_more_extreme<is_max>(x[i], best)) best = x[i];
  return best;
}

/// The index of the first element of the chunk that equals `value`.
template <class T>
HWY_INLINE int64_t index_of_first(const T* x, int64_t n, T value) {
  if (value != value)
    return std::find_if(x, x + n, [](T element) { return element != element; }) - x;
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto values = hn::Set(d, value);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    if (const auto lane = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, x + i), values)); lane >= 0)
      return i + static_cast<int64_t>(lane);
  return std::find(x + i, x + n, value) - x;
}

template <bool is_max, class T>
int64_t index_in_row(const void* row, int64_t n) {
  const T* x = static_cast<const T*>(row);
  T best = x[0];
  int64_t best_chunk_begin = 0;
  for (int64_t i = 0; i < n; i += kChunkElements) {
    const T value = extreme_of<is_max>(x + i, std::min(kChunkElements, n - i));
    if (is_more_extreme<is_max>(value, best)) best = value, best_chunk_begin = i;
  }
  return best_chunk_begin +
         index_of_first(x + best_chunk_begin, std::min(kChunkElements, n - best_chunk_begin), best);
}

template <bool is_max, class T>
void find_indices_in_columns(const void* rows, int64_t count, int64_t width, int64_t stride,
                             int64_t* to) {
  using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  const T* HWY_RESTRICT x = static_cast<const T*>(rows);
  HWY_ALIGN T best[kExtremeColumns];
  HWY_ALIGN Index indices[kExtremeColumns] = {};
  std::copy_n(x, width, best);
  for (int64_t i = 1; i < count; ++i) {
    const T* HWY_RESTRICT row = x + i * stride;
    for (int64_t j = 0; j < width; ++j) {
      const T candidate = row[j], kept = best[j];
      const bool is_better = is_more_extreme<is_max>(candidate, kept);
      best[j] = is_better ? candidate : kept;
      indices[j] = is_better ? static_cast<Index>(i) : indices[j];
    }
  }
  std::copy_n(indices, width, to);
}

template <class T>
ExtremeLoops loops(bool is_max) {
  return is_max ? ExtremeLoops{index_in_row<true, T>, find_indices_in_columns<true, T>}
                : ExtremeLoops{index_in_row<false, T>, find_indices_in_columns<false, T>};
}

ExtremeLoops find_extreme(bool is_max, DType dtype) {
  switch (dtype) {
    case DType::float32:
      return loops<float>(is_max);
    case DType::float64:
      return loops<double>(is_max);
    case DType::int32:
      return loops<int32_t>(is_max);
    case DType::int64:
      return loops<int64_t>(is_max);
    case DType::uint8:
    case DType::boolean:
      return loops<uint8_t>(is_max);
    default:
      return {};
  }
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {

HWY_EXPORT(find_extreme);

ExtremeLoops extreme_loops(bool is_max, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_extreme)(is_max, dtype);
}

}  // namespace crescent::cpu
#endif

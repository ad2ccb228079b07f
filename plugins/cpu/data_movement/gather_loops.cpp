// Gathers elements of a line at integer indices.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data_movement/gather_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "data_movement/indexing.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

/// Gathers n elements of `line`. Indices below 0 or above length - 1 are clamped.
template <class T, class Index>
void gather(const void* line, const void* indices, int64_t n, int64_t length, void* to) {
  const T* HWY_RESTRICT from = static_cast<const T*>(line);
  const Index* HWY_RESTRICT index_array = static_cast<const Index*>(indices);
  T* HWY_RESTRICT out = static_cast<T*>(to);
  const auto last = static_cast<Index>(length - 1);
  for (int64_t i = 0; i < n; ++i) {
    const Index low = index_array[i] < 0 ? 0 : index_array[i];
    out[i] = from[low < last ? low : last];
  }
}

template <class T>
void find_extremes_of(const void* numbers, int64_t n, void* minimum, void* maximum) {
  const T* HWY_RESTRICT x = static_cast<const T*>(numbers);
  T low = x[0], high = x[0];
  for (int64_t i = 1; i < n; ++i) low = std::min(low, x[i]), high = std::max(high, x[i]);
  *static_cast<T*>(minimum) = low, *static_cast<T*>(maximum) = high;
}

ExtremesLoop find_extremes(size_t bytes, bool is_signed) {
  if (bytes == 1) return is_signed ? find_extremes_of<int8_t> : find_extremes_of<uint8_t>;
  return bytes == 2   ? find_extremes_of<int16_t>
         : bytes == 4 ? find_extremes_of<int32_t>
                      : find_extremes_of<int64_t>;
}

template <class Index>
GatherLoop gather_of_size(size_t bytes) {
  return bytes == 4 ? gather<int32_t, Index> : bytes == 8 ? gather<int64_t, Index> : nullptr;
}

GatherLoop find_gather(size_t bytes, DType indices) {
  if (indices == DType::int32) return gather_of_size<int32_t>(bytes);
  return indices == DType::int64 ? gather_of_size<int64_t>(bytes) : nullptr;
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {

HWY_EXPORT(find_gather);
HWY_EXPORT(find_extremes);

GatherLoop gather_loop(size_t bytes, DType indices) {
  return HWY_DYNAMIC_DISPATCH(find_gather)(bytes, indices);
}

ExtremesLoop extremes_loop(size_t bytes, bool is_signed) {
  return HWY_DYNAMIC_DISPATCH(find_extremes)(bytes, is_signed);
}

}  // namespace crescent::cpu
#endif

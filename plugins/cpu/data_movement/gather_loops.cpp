// Gathers elements at integer indices.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data_movement/gather_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "data_movement/indexing.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

/// Indices below 0 or above length - 1 are clamped. `source` and `to` need not be aligned. The
/// function is aligned, since its short loop takes up to a quarter more time where it crosses the
/// end of a cache line.
template <class T, class Index, GatherPattern pattern>
__attribute__((aligned(64))) void gather(const void* source, const void* indices, int64_t n,
                                         int64_t length, int64_t stride, void* to) {
  constexpr int64_t kBytes = sizeof(T);
  const auto* HWY_RESTRICT from = static_cast<const std::byte*>(source);
  const Index* HWY_RESTRICT index_array = static_cast<const Index*>(indices);
  auto* HWY_RESTRICT target = static_cast<std::byte*>(to);
  for (int64_t i = 0; i < n; ++i) {
    auto index = static_cast<int64_t>(index_array[i]);
    // Indices are seldom out of range, so a branch costs less than clamping each of them.
    if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(length)) [[unlikely]]
      index = std::clamp<int64_t>(index, 0, length - 1);
    const int64_t position = pattern == GatherPattern::line      ? index
                             : pattern == GatherPattern::columns ? index * stride + i
                                                                 : index + i * stride;
    std::memcpy(target + i * kBytes, from + position * kBytes, sizeof(T));
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

template <class T, class Index>
GatherLoop gather_of(GatherPattern pattern) {
  switch (pattern) {
    case GatherPattern::line:
      return gather<T, Index, GatherPattern::line>;
    case GatherPattern::columns:
      return gather<T, Index, GatherPattern::columns>;
    default:
      return gather<T, Index, GatherPattern::lines>;
  }
}

template <class Index>
GatherLoop gather_of_size(size_t bytes, GatherPattern pattern) {
  switch (bytes) {
    case 1:
      return gather_of<uint8_t, Index>(pattern);
    case 2:
      return gather_of<uint16_t, Index>(pattern);
    case 4:
      return gather_of<uint32_t, Index>(pattern);
    case 8:
      return gather_of<uint64_t, Index>(pattern);
    default:
      return nullptr;
  }
}

GatherLoop find_gather(size_t bytes, DType indices, GatherPattern pattern) {
  switch (indices) {
    case DType::int32:
      return gather_of_size<int32_t>(bytes, pattern);
    case DType::int64:
      return gather_of_size<int64_t>(bytes, pattern);
    case DType::int16:
      return gather_of_size<int16_t>(bytes, pattern);
    case DType::int8:
      return gather_of_size<int8_t>(bytes, pattern);
    case DType::uint8:
    case DType::boolean:
      return gather_of_size<uint8_t>(bytes, pattern);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {

HWY_EXPORT(find_gather);
HWY_EXPORT(find_extremes);

GatherLoop gather_loop(size_t bytes, DType indices, GatherPattern pattern) {
  return HWY_DYNAMIC_DISPATCH(find_gather)(bytes, indices, pattern);
}

ExtremesLoop extremes_loop(size_t bytes, bool is_signed) {
  return HWY_DYNAMIC_DISPATCH(find_extremes)(bytes, is_signed);
}

}  // namespace crescent::cpu
#endif

// Elements of a line at the places that integers say.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shape/gather_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "shape/indexing.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

/// What is beyond the ends is read at the nearest.
template <class T, class Index>
void gather(const void* line, const void* indices, int64_t n, int64_t length, void* to) {
  const T* HWY_RESTRICT from = static_cast<const T*>(line);
  const Index* HWY_RESTRICT at = static_cast<const Index*>(indices);
  T* HWY_RESTRICT out = static_cast<T*>(to);
  const auto last = static_cast<Index>(length - 1);
  for (int64_t i = 0; i < n; ++i) {
    const Index low = at[i] < 0 ? 0 : at[i];
    out[i] = from[low < last ? low : last];
  }
}

template <class Index>
GatherLoop of_size(size_t bytes) {
  return bytes == 4 ? gather<int32_t, Index> : bytes == 8 ? gather<int64_t, Index> : nullptr;
}

GatherLoop find_gather(size_t bytes, DType indices) {
  if (indices == DType::int32) return of_size<int32_t>(bytes);
  return indices == DType::int64 ? of_size<int64_t>(bytes) : nullptr;
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {

HWY_EXPORT(find_gather);

GatherLoop gather_loop(size_t bytes, DType indices) {
  return HWY_DYNAMIC_DISPATCH(find_gather)(bytes, indices);
}

}  // namespace crescent::cpu
#endif

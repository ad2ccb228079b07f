// Repeats each element several times in a row.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data_movement/repeat_loops.cpp"
#include <algorithm>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "data_movement/row_loops.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Writes each element as whole vectors; the values that are written beyond its n copies are
/// overwritten by the next element.
template <class D, class T>
HWY_INLINE void repeat_by_vectors(D d, const T* from, int64_t step, int64_t count, int64_t n,
                                  T* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t vectors = (n + lanes - 1) / lanes, excess = vectors * lanes - n;
  const int64_t full_vector_count = count - (excess + n - 1) / n;
  int64_t i = 0;
  for (; i < full_vector_count; ++i) {
    const auto vector = hn::Set(d, from[i * step]);
    for (int64_t v = 0; v < vectors; ++v) hn::StoreU(vector, d, to + i * n + v * lanes);
  }
  for (; i < count; ++i) std::fill_n(to + i * n, n, from[i * step]);
}

template <class T>
void repeat(const void* from, int64_t step, int64_t count, int64_t n, void* to) {
  const hn::ScalableTag<T> d;
  // vectors of 16 bytes, which write fewer values beyond the end of an element's copies
  const hn::CappedTag<T, 16 / sizeof(T)> short_tag;
  const T* first = static_cast<const T*>(from);
  T* target = static_cast<T*>(to);
  if (n == 0) return;
  if (n >= static_cast<int64_t>(hn::Lanes(d)))
    repeat_by_vectors(d, first, step, count, n, target);
  else
    repeat_by_vectors(short_tag, first, step, count, n, target);
}

RepeatLoop find_repeat(size_t bytes) {
  return bytes == 1   ? repeat<uint8_t>
         : bytes == 2 ? repeat<uint16_t>
         : bytes == 4 ? repeat<uint32_t>
                      : repeat<uint64_t>;
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {

HWY_EXPORT(find_repeat);

RepeatLoop repeat_loop(size_t bytes) { return HWY_DYNAMIC_DISPATCH(find_repeat)(bytes); }

}  // namespace crescent::cpu
#endif

// Copies a line in reverse.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data_movement/reverse_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "data_movement/row_loops.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void reverse(const void* last_element, int64_t n, void* to) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* from = static_cast<const T*>(last_element);
  T* target = static_cast<T*>(to);
  int64_t i = 0;
  if constexpr (sizeof(T) > 1)
    for (; i + lanes <= n; i += lanes)
      hn::StoreU(hn::Reverse(d, hn::LoadU(d, from - i - lanes + 1)), d, target + i);
  for (; i < n; ++i) target[i] = from[-i];
}

ReverseLoop find_reverse(size_t bytes) {
  return bytes == 1   ? reverse<uint8_t>
         : bytes == 2 ? reverse<uint16_t>
         : bytes == 4 ? reverse<uint32_t>
                      : reverse<uint64_t>;
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {

HWY_EXPORT(find_reverse);

ReverseLoop reverse_loop(size_t bytes) { return HWY_DYNAMIC_DISPATCH(find_reverse)(bytes); }

}  // namespace crescent::cpu
#endif

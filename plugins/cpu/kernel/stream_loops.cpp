#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/stream_loops.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>

#include "kernel/loops.h"
#include "kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

void stream_floats(const float* from, float* to, size_t count) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d), misalignment = reinterpret_cast<uintptr_t>(to) / 4 % lanes,
               head_count = std::min(count, (lanes - misalignment) % lanes);
  std::copy(from, from + head_count, to);
  size_t i = head_count;
  for (; i + lanes <= count; i += lanes) hn::Stream(hn::LoadU(d, from + i), d, to + i);
  std::copy(from + i, from + count, to + i);
  hwy::FlushStream();
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(stream_floats);
void stream(const float* from, float* to, size_t count) {
  HWY_DYNAMIC_DISPATCH(stream_floats)(from, to, count);
}
}  // namespace crescent::cpu
#endif

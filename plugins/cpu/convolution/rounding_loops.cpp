#include "convolution/rounding.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convolution/rounding_loops.cpp"
#include <hwy/foreach_target.h>

#include "kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Compares the bits of magnitudes as integers, among which those of NaN are the largest.
float largest_magnitude(const float* x, int64_t count) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  auto maximum = hn::Zero(di);
  for_vectors(d, count, [&](auto load, auto) HWY_ATTR {
    maximum = hn::Max(maximum, hn::BitCast(di, hn::Abs(load(x))));
  });
  return hn::GetLane(hn::BitCast(d, hn::MaxOfLanes(di, maximum)));
}

void round(const float* x, int64_t count, float scale, float low, float high, float offset,
           uint8_t* to) {
  const hn::ScalableTag<float> d;
  for_vectors(d, count, [&](auto load, auto store) HWY_ATTR {
    const auto scaled = hn::Mul(load(x), hn::Set(d, scale));
    const auto clipped = hn::Clamp(hn::Round(scaled), hn::Set(d, low), hn::Set(d, high));
    store(hn::Add(clipped, hn::Set(d, offset)), to);
  });
}

RoundingLoops find_loops() { return {largest_magnitude, round}; }

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(find_loops);
RoundingLoops rounding_loops() { return HWY_DYNAMIC_DISPATCH(find_loops)(); }
}  // namespace crescent::cpu
#endif

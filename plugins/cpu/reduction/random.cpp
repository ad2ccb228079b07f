// Random numbers: element i of a draw depends on seed, counter and i alone, so neither threads nor
// the order of parts matter. The words of a draw, w, are those of philox(seed, counter, block),
// numbered 4 * block + position:
//
//   bits; float32 uniform and truncated   element i uses w[i]; its top 24 bits are the fraction
//   float32 normal                        elements 2k and 2k+1 are the Box-Muller pair of
//                                         w[2k] and w[2k+1]
//   float64                               likewise with two words per element: 53 bits of
//                                         w[2i] (high) and w[2i+1] (low)
//
// A truncated normal is the inverse distribution function restricted to [-2, 2], which has the same
// distribution as redrawing until a number is inside.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduction/random.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernel/kernel.h"
#include "kernel/loops.h"
#include "kernel/mathematics-inl.h"
#include "kernel/philox-inl.h"

#ifndef CRESCENT_CPU_RANDOM_ONCE
#define CRESCENT_CPU_RANDOM_ONCE
namespace crescent::cpu {

struct RandomDraw {
  RandomKind kind;
  double low_or_mean;        ///< the lower limit, or the mean
  double high_or_deviation;  ///< the upper limit, or the standard deviation
  /// The smallest and largest result of a uniform or truncated draw, exact in the result's dtype.
  double smallest_result, largest_result;
  int64_t seed = 0, counter = 0;
};
/// Writes elements [begin, end) of a draw; `to` is the address of element `begin`, which is a
/// multiple of 4.
using RandomLoop = void (*)(const RandomDraw& draw, int64_t begin, int64_t end, void* to);

}  // namespace crescent::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kWords = 1024;  // number of words that are computed at a time

/// Fills words[0..kWords) from the philox blocks that begin with `block`.
void make_words(const RandomDraw& draw, uint64_t block, uint32_t* words) {
  constexpr int kBlocks = 64;
  for (int64_t first = 0; first < kWords; first += 4 * kBlocks)
    philox_words<kBlocks>(draw.seed, draw.counter, block + static_cast<uint64_t>(first / 4),
                          words + first);
}

/// Converts words (float) or pairs of words (double) to fractions in [0, 1).
void make_fractions(const uint32_t* words, int64_t n, float* u) {
  for (int64_t i = 0; i < n; ++i)
    u[i] = static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * 0x1p-24f;
}
void make_fractions(const uint32_t* words, int64_t n, double* u) {
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = (uint64_t{words[2 * i]} << 32 | words[2 * i + 1]) >> 11;
    u[i] = static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-53;
  }
}

template <class T>
constexpr T kUlp = sizeof(T) == 4 ? T(0x1p-24) : T(0x1p-53);

template <class T>
void make_uniform(const RandomDraw& draw, T* u, int64_t n) {
  const T low = static_cast<T>(draw.low_or_mean),
          width = static_cast<T>(draw.high_or_deviation - draw.low_or_mean);
  // Rounding must not give the upper limit, which is exclusive.
  const T largest = static_cast<T>(draw.largest_result);
  for (int64_t i = 0; i < n; ++i) u[i] = std::min(low + u[i] * width, width > 0 ? largest : low);
}

/// Converts the uniform numbers u[2k] and u[2k+1] to a pair of normal numbers.
template <class T>
void make_normal(const RandomDraw& draw, T* u, int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN T first[hn::MaxLanes(d)], second[hn::MaxLanes(d)];
  const auto mean = constant(d, draw.low_or_mean), deviation = constant(d, draw.high_or_deviation);
  for (int64_t i = 0; i < n; i += 2 * lanes) {
    for (int64_t k = 0; k < lanes; ++k)
      first[k] = T(1) - u[i + 2 * k], second[k] = u[i + 2 * k + 1];
    const auto radius =
        hn::Mul(deviation, hn::Sqrt(hn::Mul(constant(d, -2), hn::Log(d, hn::Load(d, first)))));
    const auto angle = hn::Mul(constant(d, 2 * std::numbers::pi), hn::Load(d, second));
    hn::Store(hn::MulAdd(radius, hn::Cos(d, angle), mean), d, first);
    hn::Store(hn::MulAdd(radius, hn::Sin(d, angle), mean), d, second);
    for (int64_t k = 0; k < lanes; ++k) u[i + 2 * k] = first[k], u[i + 2 * k + 1] = second[k];
  }
}

/// The quantile of the standard normal distribution for p near 1/2, by Acklam's rational function
/// with an error of 1e-8. If `is_exact`, a step of Halley's method reduces the error to the
/// precision of float64.
double normal_quantile(double p, bool is_exact) {
  const double q = p - 0.5, r = q * q;
  const double numerator =
      ((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
        1.383577518672690e+02) *
           r -
       3.066479806614716e+01) *
          r +
      2.506628277459239;
  const double denominator =
      ((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
        6.680131188771972e+01) *
           r -
       1.328068155288572e+01) *
          r +
      1;
  const double x = q * numerator / denominator;
  if (!is_exact) return x;
  const double error = 0.5 * std::erfc(-x / std::numbers::sqrt2) - p;
  const double u = error * std::sqrt(2 * std::numbers::pi) * std::exp(x * x / 2);
  return x - u / (1 + x * u / 2);
}

template <class T>
void make_truncated_normal(const RandomDraw& draw, T* u, int64_t n) {
  const double lower_tail = 0.5 * std::erfc(std::numbers::sqrt2),
               inner_probability = 1 - 2 * lower_tail;
  for (int64_t i = 0; i < n; ++i) {
    const double p = lower_tail + inner_probability * (static_cast<double>(u[i]) +
                                                       0.5 * static_cast<double>(kUlp<T>));
    const double x = draw.low_or_mean + draw.high_or_deviation * normal_quantile(p, sizeof(T) == 8);
    u[i] = static_cast<T>(std::min(std::max(x, draw.smallest_result), draw.largest_result));
  }
}

template <class T>
void random_loop(const RandomDraw& draw, int64_t begin, int64_t end, void* to) {
  constexpr int64_t kWordsPerNumber = sizeof(T) / 4, kCount = kWords / kWordsPerNumber;
  HWY_ALIGN uint32_t words[kWords];
  HWY_ALIGN T u[kCount];
  for (int64_t first = begin; first < end; first += kCount) {
    make_words(draw, static_cast<uint64_t>(first * kWordsPerNumber / 4), words);
    make_fractions(words, kCount, u);
    if (draw.kind == RandomKind::uniform)
      make_uniform(draw, u, kCount);
    else if (draw.kind == RandomKind::normal)
      make_normal(draw, u, kCount);
    else
      make_truncated_normal(draw, u, std::min(kCount, end - first));
    std::copy_n(u, std::min(kCount, end - first), static_cast<T*>(to) + (first - begin));
  }
}

void bits_loop(const RandomDraw& draw, int64_t begin, int64_t end, void* to) {
  HWY_ALIGN uint32_t words[kWords];
  for (int64_t first = begin; first < end; first += kWords) {
    make_words(draw, static_cast<uint64_t>(first / 4), words);
    std::copy_n(words, std::min(kWords, end - first), static_cast<uint32_t*>(to) + (first - begin));
  }
}

RandomLoop find_random(RandomKind kind, DType dtype) {
  if (kind == RandomKind::bits) return dtype == DType::int32 ? bits_loop : nullptr;
  return dtype == DType::float32   ? random_loop<float>
         : dtype == DType::float64 ? random_loop<double>
                                   : nullptr;
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
namespace {

HWY_EXPORT(find_random);

/// Rounds x to the nearest value of the dtype.
double rounded_to_dtype(double x, DType dtype) {
  switch (dtype) {
    case DType::float32:
      return static_cast<float>(x);
    case DType::float16:
      return float16_to_float(float_to_float16(static_cast<float>(x)));
    case DType::bfloat16:
      return bfloat16_to_float(float_to_bfloat16(static_cast<float>(x)));
    default:
      return x;
  }
}

/// The largest value of the dtype that is less than x, which must be a value of the dtype.
double value_below(double x, DType dtype) {
  if (dtype == DType::float64) return std::nextafter(x, -INFINITY);
  const auto number = static_cast<float>(x);
  if (dtype == DType::float32) return std::nextafter(number, -INFINITY);
  const bool is_bfloat16 = dtype == DType::bfloat16;
  const uint16_t bits = is_bfloat16 ? float_to_bfloat16(number) : float_to_float16(number);
  const auto next_bits = static_cast<uint16_t>(x > 0 ? bits - 1 : x < 0 ? bits + 1 : 0x8001);
  return is_bfloat16 ? bfloat16_to_float(next_bits) : float16_to_float(next_bits);
}

/// The largest value of the dtype that is at most x.
double rounded_down(double x, DType dtype) {
  const double nearest = rounded_to_dtype(x, dtype);
  return nearest > x ? value_below(nearest, dtype) : nearest;
}

RandomDraw draw_of(const Random& op, DType dtype) {
  const double half_range = 2 * std::abs(op.b);
  if (op.kind == RandomKind::truncated_normal)
    return {op.kind, op.a, op.b, -rounded_down(half_range - op.a, dtype),
            rounded_down(op.a + half_range, dtype)};
  return {op.kind, op.a, op.b, op.a, value_below(rounded_to_dtype(op.b, dtype), dtype)};
}

/// The kernel that draws random numbers. Half-width floats are drawn as float32, a block at a time,
/// and rounded.
class RandomKernel final : public Kernel {
 public:
  RandomKernel(const Random& op, const TensorSpec& out, RandomLoop loop)
      : draw_(draw_of(op, out.dtype)),
        element_count_(out.shape.size()),
        element_bytes_(size_of(out.dtype)),
        loop_(loop),
        round_(element_bytes_ == 2 ? cast_loop(DType::float32, out.dtype) : nullptr) {}
  void run(const Arguments& a) const override {
    RandomDraw draw = draw_;
    draw.seed = a.in<int64_t>(0)[0];
    draw.counter = a.in<int64_t>(0)[1];
    const int64_t grain =
        // elements per task, a multiple of kWords
        draw.kind == RandomKind::truncated_normal ? 1024 : 8192;
    a.threads.blocks(element_count_, grain, [&](int64_t begin, int64_t end) {
      std::byte* to = a.outputs[0] + static_cast<size_t>(begin) * element_bytes_;
      round_ ? draw_rounded(draw, begin, end, to) : loop_(draw, begin, end, to);
    });
  }
  std::string name() const override { return "philox"; }

 private:
  void draw_rounded(const RandomDraw& draw, int64_t begin, int64_t end, std::byte* to) const {
    constexpr int64_t kBlock = 1024;
    float block[kBlock];
    for (; begin < end; begin += kBlock) {
      const int64_t n = std::min(kBlock, end - begin);
      loop_(draw, begin, begin + n, block);
      round_(block, to, n);
      to += static_cast<size_t>(n) * element_bytes_;
    }
  }

  RandomDraw draw_;
  int64_t element_count_;
  size_t element_bytes_;
  RandomLoop loop_;
  UnaryLoop round_;
};

std::unique_ptr<Kernel> make_random(const Request& r) {
  auto& op = static_cast<const Random&>(r.op);
  const DType dtype = r.outputs[0].dtype;
  const bool is_half = is_floating(dtype) && size_of(dtype) == 2;
  const RandomLoop loop =
      HWY_DYNAMIC_DISPATCH(find_random)(op.kind, is_half ? DType::float32 : dtype);
  return loop ? std::make_unique<RandomKernel>(op, r.outputs[0], loop) : nullptr;
}

}  // namespace

std::span<const KernelEntry> random_kernels() {
  static constexpr KernelEntry entries[] = {{"random", make_random}};
  return entries;
}

}  // namespace crescent::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduction/reduction_loops.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "kernel/mathematics-inl.h"
#include "kernel/sums-inl.h"
#include "reduction/reduction.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

enum class ReductionRule { sum, product, largest, smallest };

template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<ComputeType<T>>, double, int64_t>;

template <ReductionRule rule, class A>
constexpr A neutral_element() {
  using Limits = std::numeric_limits<A>;
  constexpr A top = Limits::has_infinity ? Limits::infinity() : Limits::max();
  constexpr A bottom = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  return rule == ReductionRule::sum       ? A{0}
         : rule == ReductionRule::product ? A{1}
         : rule == ReductionRule::largest ? bottom
                                          : top;
}

/// Combines two values. If one is NaN, the result is NaN; integers wrap around on overflow.
template <ReductionRule rule, class A>
HWY_INLINE A combine(A a, A x) {
  if constexpr (rule == ReductionRule::largest || rule == ReductionRule::smallest) {
    // GCC compiles this form of the comparison to a single instruction.
    const A extreme = (rule == ReductionRule::largest ? x > a : x < a) ? x : a;
    return x != x ? x : extreme;
  } else if constexpr (std::is_floating_point_v<A>)
    return rule == ReductionRule::sum ? a + x : a * x;
  else
    return static_cast<A>(rule == ReductionRule::sum
                              ? static_cast<uint64_t>(a) + static_cast<uint64_t>(x)
                              : static_cast<uint64_t>(a) * static_cast<uint64_t>(x));
}

/// Sets accumulators to the neutral element: false for `any`, true for `all`.
template <ReductionRule rule, class T, bool converts_to_bool>
void start(void* acc, int64_t n) {
  using A = Accumulator<T>;
  std::fill_n(static_cast<A*>(acc), n,
              converts_to_bool ? A{rule == ReductionRule::smallest} : neutral_element<rule, A>());
}

template <ReductionRule rule, class T>
void merge(const void* from, void* acc, int64_t n) {
  using A = Accumulator<T>;
  const A* x = static_cast<const A*>(from);
  A* a = static_cast<A*>(acc);
  for (int64_t i = 0; i < n; ++i) a[i] = combine<rule>(a[i], x[i]);
}

template <class T>
HWY_INLINE T number_of(T x) {
  return x;
}
HWY_INLINE float number_of(BFloat16 x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}

/// The largest number of rows that are added at once: one for each lane of a vector of doubles.
constexpr size_t kMaxRows = HWY_MAX_BYTES / sizeof(double);

/// Computes the sum of the lanes of each of `vectors`, of which there are as many as a vector has
/// lanes, and stores the sums as one vector at `vectors`. Neighbouring lanes are added until each
/// vector has one sum.
HWY_INLINE void add_lanes([[maybe_unused]] double* vectors) {
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t count = lanes / 2; count > 0; count /= 2)
    for (size_t k = 0; k < count; ++k) {
      const auto low = hn::Load(d, vectors + 2 * k * lanes),
                 high = hn::Load(d, vectors + (2 * k + 1) * lanes);
      hn::Store(hn::Add(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low)), d,
                vectors + k * lanes);
    }
#endif
}

/// Adds the sums of up to kMaxRows rows of n elements to `acc`. The sum of a row does not depend on
/// which rows are added in the same call.
template <class T>
HWY_INLINE void sum_rows(const T* x, int64_t rows, int64_t width, int64_t n, double* acc) {
  const hn::ScalableTag<double> d;
  const hn::ScalableTag<ComputeType<T>> elements;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN double vectors[kMaxRows * kMaxRows];
  int64_t begin = 0;  // index of the first element after the whole vectors
  for (int64_t row = 0; row < lanes; ++row) {
    const T* line = x + row * width;
    const auto vector_at = [&](int64_t i) HWY_ATTR { return load(elements, line + i); };
    hn::Store(row < rows ? sum_vectors(elements, n, begin, vector_at) : hn::Zero(d), d,
              vectors + row * lanes);
  }
  add_lanes(vectors);
  for (int64_t row = 0; row < rows; ++row) {
    double total = vectors[row];
    for (int64_t i = begin; i < n; ++i) total += static_cast<double>(number_of(x[row * width + i]));
    acc[row] += total;
  }
}

template <bool is_largest, class V>
HWY_INLINE V extreme(V a, V x) {
  return is_largest ? hn::Max(a, x) : hn::Min(a, x);
}

/// The largest or smallest element of a row. NaN is tested separately, because maximum and minimum
/// instructions on vectors may lose a NaN.
template <ReductionRule rule, class T>
HWY_INLINE double extreme_of_row(const T* x, int64_t n) {
  constexpr bool is_largest = rule == ReductionRule::largest;
  const hn::ScalableTag<ComputeType<T>> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  double total = neutral_element<rule, double>();
  int64_t i = 0;
  if (n >= lanes) {
    auto a = hn::Set(d, static_cast<ComputeType<T>>(total)), b = a;
    auto has_nan = hn::IsNaN(a);
    const auto update_extremes = [&](auto& extremes, int64_t index) HWY_ATTR {
      const auto v = load(d, x + index);
      extremes = extreme<is_largest>(extremes, v), has_nan = hn::Or(has_nan, hn::IsNaN(v));
    };
    for (; i + 2 * lanes <= n; i += 2 * lanes) update_extremes(a, i), update_extremes(b, i + lanes);
    for (; i + lanes <= n; i += lanes) update_extremes(a, i);
    if (!hn::AllFalse(d, has_nan)) return std::numeric_limits<double>::quiet_NaN();
    a = extreme<is_largest>(a, b);
    total =
        static_cast<double>(hn::GetLane(is_largest ? hn::MaxOfLanes(d, a) : hn::MinOfLanes(d, a)));
  }
  for (; i < n; ++i) total = combine<rule>(total, static_cast<double>(number_of(x[i])));
  return total;
}

HWY_INLINE hn::Vec<hn::ScalableTag<double>> load_doubles(const double* x) {
  return hn::LoadU(hn::ScalableTag<double>(), x);
}
HWY_INLINE hn::Vec<hn::ScalableTag<double>> load_doubles(const float* x) {
  const hn::ScalableTag<double> d;
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), x));
}

/// The product of a row in float64, since an intermediate product of many numbers may overflow
/// float32.
template <class T>
HWY_INLINE double multiply_row(const T* x, int64_t n) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a = hn::Set(d, 1.0), b = a, c = a, e = a;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Mul(a, load_doubles(x + i)), b = hn::Mul(b, load_doubles(x + i + lanes));
    c = hn::Mul(c, load_doubles(x + i + 2 * lanes)),
    e = hn::Mul(e, load_doubles(x + i + 3 * lanes));
  }
  HWY_ALIGN double lane_products[hn::MaxLanes(d)];
  hn::Store(hn::Mul(hn::Mul(a, b), hn::Mul(c, e)), d, lane_products);
  double total = 1;
  for (int64_t k = 0; k < lanes; ++k) total *= lane_products[k];
  for (; i < n; ++i) total *= static_cast<double>(x[i]);
  return total;
}

template <ReductionRule rule, class T, bool converts_to_bool>
HWY_INLINE Accumulator<T> combine_row(Accumulator<T> total, const T* x, int64_t n) {
  constexpr bool is_floating = std::is_floating_point_v<ComputeType<T>>;
  if constexpr (is_floating && rule != ReductionRule::product) {
    return combine<rule>(total, extreme_of_row<rule>(x, n));
  } else if constexpr (std::is_floating_point_v<T> && rule == ReductionRule::product) {
    return total * multiply_row(x, n);
  } else {
    using A = Accumulator<T>;
    for (int64_t i = 0; i < n; ++i)
      total = combine<rule>(
          total, static_cast<A>(converts_to_bool ? number_of(x[i]) != 0 : number_of(x[i])));
    return total;
  }
}

template <ReductionRule rule, class T, bool converts_to_bool>
void reduce_rows(const void* x, int64_t rows, int64_t width, void* acc) {
  const T* in = static_cast<const T*>(x);
  auto* a = static_cast<Accumulator<T>*>(acc);
  constexpr bool adds_lanes =
      std::is_floating_point_v<ComputeType<T>> && rule == ReductionRule::sum;
  const int64_t rows_at_once =
      adds_lanes ? static_cast<int64_t>(hn::Lanes(hn::ScalableTag<double>())) : 1;
  for (int64_t row = 0; row < rows; row += rows_at_once, in += rows_at_once * width)
    for (int64_t i = 0; i < width; i += kRowLength) {
      const int64_t n = std::min(kRowLength, width - i);
      if constexpr (adds_lanes)
        sum_rows(in + i, std::min(rows_at_once, rows - row), width, n, a + row);
      else
        a[row] = combine_row<rule, T, converts_to_bool>(a[row], in + i, n);
    }
}

/// The type of partial results of columns: the type of the elements if it is precise enough.
template <ReductionRule rule, class T>
using Partial =
    std::conditional_t<std::is_floating_point_v<ComputeType<T>> && rule != ReductionRule::product,
                       ComputeType<T>, Accumulator<T>>;

template <ReductionRule rule, class T, bool converts_to_bool>
void reduce_columns(const void* x, int64_t rows, int64_t width, int64_t stride, bool is_first,
                    void* partial) {
  using P = Partial<rule, T>;
  const auto value = [](T v) -> P {
    if constexpr (converts_to_bool)
      return number_of(v) != 0;
    else
      return static_cast<P>(number_of(v));
  };
  const T* HWY_RESTRICT in = static_cast<const T*>(x);
  P* HWY_RESTRICT sum = static_cast<P*>(partial);
  if (is_first) {
    for (int64_t j = 0; j < width; ++j) sum[j] = value(in[j]);
  }
  for (int64_t i = is_first ? 1 : 0; i < rows; ++i) {
    const T* HWY_RESTRICT row = in + i * stride;
    for (int64_t j = 0; j < width; ++j) sum[j] = combine<rule>(sum[j], value(row[j]));
  }
}

template <ReductionRule rule, class T>
void add_up(const void* partial, int64_t n, int64_t width, void* acc) {
  using A = Accumulator<T>;
  const auto* HWY_RESTRICT from = static_cast<const Partial<rule, T>*>(partial);
  A* HWY_RESTRICT a = static_cast<A*>(acc);
  for (int64_t i = 0; i < n; i += width) {
    for (int64_t j = 0; j < width; ++j) a[j] = combine<rule>(a[j], static_cast<A>(from[i + j]));
  }
}

template <ReductionRule rule, class T, bool converts_to_bool = false>
constexpr ReduceLoops kLoops = {
    start<rule, T, converts_to_bool>, reduce_rows<rule, T, converts_to_bool>,
    reduce_columns<rule, T, converts_to_bool>, add_up<rule, T>, merge<rule, T>};

template <class T>
ReduceLoops loops_for(ReduceKind kind) {
  constexpr bool is_floating = std::is_floating_point_v<ComputeType<T>>;
  // The type for `any` and `all`, which exist for bool and integers only.
  using Truth = std::conditional_t<is_floating, uint8_t, T>;
  switch (kind) {
    case ReduceKind::sum:
    case ReduceKind::mean:
      return kLoops<ReductionRule::sum, T>;
    case ReduceKind::max:
      return kLoops<ReductionRule::largest, T>;
    case ReduceKind::min:
      return kLoops<ReductionRule::smallest, T>;
    case ReduceKind::prod:
      return kLoops<ReductionRule::product, T>;
    case ReduceKind::any:
      return is_floating ? ReduceLoops{} : kLoops<ReductionRule::largest, Truth, true>;
    case ReduceKind::all:
      return is_floating ? ReduceLoops{} : kLoops<ReductionRule::smallest, Truth, true>;
  }
  return {};
}

ReduceLoops find_reduce(ReduceKind kind, DType dtype) {
  switch (dtype) {
    case DType::float32:
      return loops_for<float>(kind);
    case DType::float64:
      return loops_for<double>(kind);
    case DType::bfloat16:
      return loops_for<BFloat16>(kind);
    case DType::int32:
      return loops_for<int32_t>(kind);
    case DType::int64:
      return loops_for<int64_t>(kind);
    case DType::uint8:
    case DType::boolean:
      return loops_for<uint8_t>(kind);
    default:
      return {};
  }
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {

HWY_EXPORT(find_reduce);

ReduceLoops reduce_loops(ReduceKind kind, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_reduce)(kind, dtype);
}

}  // namespace crescent::cpu
#endif

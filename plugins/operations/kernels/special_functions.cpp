// Elementwise functions of one number that cannot be composed of other ops.
#include <cmath>
#include <numbers>

#include "clones.h"
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registration.h"
#include "crescent/tensor/with_type.h"
#include "each_number.h"

namespace crescent::operations {
namespace {

/// The polynomial c[0] + c[1] x + ...
template <size_t n>
double polynomial(const double (&c)[n], double x) {
  double sum = c[n - 1];
  for (size_t i = n - 1; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

/// The inverse of erf, computed from the quantiles of the normal distribution (Wichura, Algorithm
/// AS 241, 1988): three quotients of polynomials, for the middle, the flanks and the ends.
double inverse_of_erf(double y) {
  const double magnitude = std::abs(y);
  if (magnitude >= 1) return magnitude == 1 ? std::copysign(INFINITY, y) : NAN;
  if (magnitude <= 0.85) {
    static constexpr double kNumerator[] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                            1.9715909503065514427e3, 1.3731693765509461125e4,
                                            4.5921953931549871457e4, 6.7265770927008700853e4,
                                            3.3430575583588128105e4, 2.5090809287301226727e3};
    static constexpr double kDenominator[] = {1.0,
                                              4.2313330701600911252e1,
                                              6.8718700749205790830e2,
                                              5.3941960214247511077e3,
                                              2.1213794301586595867e4,
                                              3.9307895800092710610e4,
                                              2.8729085735721942674e4,
                                              5.2264952788528545610e3};
    const double q = y / 2, r = 0.180625 - q * q;
    return q * polynomial(kNumerator, r) / polynomial(kDenominator, r) / std::numbers::sqrt2;
  }
  static constexpr double kFlankNumerator[] = {
      1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
      3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
      2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kFlankDenominator[] = {1.0,
                                                 2.05319162663775882187e0,
                                                 1.67638483018380384940e0,
                                                 6.89767334985100004550e-1,
                                                 1.48103976427480074590e-1,
                                                 1.51986665636164571966e-2,
                                                 5.47593808499534494600e-4,
                                                 1.05075007164441684324e-9};
  static constexpr double kEndNumerator[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                             1.78482653991729133580e0,  2.96560571828504891230e-1,
                                             2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                             2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kEndDenominator[] = {1.0,
                                               5.99832206555887937690e-1,
                                               1.36929880922735805310e-1,
                                               1.48753612908506148525e-2,
                                               7.86869131145613259100e-4,
                                               1.84631831751005468180e-5,
                                               1.42151175831644588870e-7,
                                               2.04426310338993978564e-15};
  const double r = std::sqrt(-std::log((1 - magnitude) / 2));
  const double quantile =
      r <= 5 ? polynomial(kFlankNumerator, r - 1.6) / polynomial(kFlankDenominator, r - 1.6)
             : polynomial(kEndNumerator, r - 5) / polynomial(kEndDenominator, r - 5);
  return std::copysign(quantile / std::numbers::sqrt2, y);
}

/// The number of terms of the series for the Bessel functions i0, the sum of t^k / (k!)^2 with t =
/// x^2 / 4, and i1, x / 2 times the sum of t^k / (k! (k + 1)!). All terms have the same sign, so
/// that nothing cancels and float32 is accurate enough.
constexpr int kTerms = 26;
constexpr float kSeriesEnd = 12;
struct Series {
  float c[kTerms];
};
constexpr Series series_of(int order) {
  Series series{};
  double c = 1;
  for (int k = 0; k < kTerms; ++k) {
    series.c[k] = static_cast<float>(c);
    c /= (k + 1.0) * (k + 1 + order);
  }
  return series;
}

template <int order>
CRESCENT_IN_CLONES void bessel_series(const float* x, float* y, int64_t n) {
  static constexpr Series kSeries = series_of(order);
  for (int64_t i = 0; i < n; ++i) {
    const float half = x[i] / 2, t = half * half;
    float sum = kSeries.c[kTerms - 1];
#pragma GCC unroll 32
    for (int k = kTerms - 2; k >= 0; --k) sum = sum * t + kSeries.c[k];
    y[i] = order == 0 ? sum : sum * half;
  }
}

CRESCENT_CLONES(series_of_i0, bessel_series<0>, (const float* x, float* y, int64_t n), (x, y, n))
CRESCENT_CLONES(series_of_i1, bessel_series<1>, (const float* x, float* y, int64_t n), (x, y, n))

bool is_bessel(Special kind) { return kind == Special::i0 || kind == Special::i1; }

double evaluate_special(Special kind, double x) {
  if (std::isnan(x)) return x;
  if (kind == Special::erfinv) return inverse_of_erf(x);
  if (kind == Special::erfc) return std::erfc(x);
  if (std::isinf(x)) return NAN;  // as in Keras, the result for infinity is NaN
  const double value = bessel_i(kind == Special::i0 ? 0 : 1, std::abs(x));
  return kind == Special::i1 ? std::copysign(value, x) : value;
}

/// The loop for the function `kind` of one number.
struct SpecialLoop {
  Special kind;
  explicit SpecialLoop(const SpecialFunction& op) : kind(op.kind) {}
  void compute_range(DType dtype, const std::byte* const* in, std::byte* out, int64_t begin,
                     int64_t end) const {
    with_type(dtype, [&]<class T>(T) {
      const T* x = reinterpret_cast<const T*>(in[0]);
      T* y = reinterpret_cast<T*>(out);
      if constexpr (std::is_same_v<T, float>) {
        if (is_bessel(kind)) return compute_series(x + begin, y + begin, end - begin);
      }
      for (int64_t i = begin; i < end; ++i)
        y[i] = static_cast<T>(evaluate_special(kind, static_cast<double>(x[i])));
    });
  }

 private:
  /// Computes the series block by block; x and y may be the same array.
  void compute_series(const float* x, float* y, int64_t n) const {
    constexpr int64_t kBlock = 256;
    float block[kBlock];
    for (int64_t block_start = 0; block_start < n; block_start += kBlock) {
      const int64_t block_size = std::min(kBlock, n - block_start);
      (kind == Special::i0 ? series_of_i0 : series_of_i1)(x + block_start, block, block_size);
      for (int64_t i = 0; i < block_size; ++i) {
        const float number = x[block_start + i];
        if (!(std::abs(number) <= kSeriesEnd))
          block[i] = static_cast<float>(evaluate_special(kind, number));
      }
      std::copy_n(block, block_size, y + block_start);
    }
  }
};

}  // namespace

CRESCENT_REGISTER(special_kernel) {
  registry.add<EachNumberKernel<SpecialFunction, SpecialLoop>>(SpecialFunction::kName);
}

}  // namespace crescent::operations

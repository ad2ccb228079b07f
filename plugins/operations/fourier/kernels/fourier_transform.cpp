#include "fourier_transform.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <utility>

#include "../../kernels/clones.h"
#include "lanes.h"

namespace crescent::operations {
namespace {

/// The largest row length for which eight rows are transformed at once; longer ones would not fit a
/// core's own cache.
constexpr size_t kMaxLanesLength = 8192;

typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double))));

/// The complex number exp(2 pi i turn_fraction), which rotates by the fraction `turn_fraction` of a
/// full turn.
std::complex<double> root_of_unity(double turn_fraction) {
  return std::polar(1.0, 2 * std::numbers::pi * turn_fraction);
}

/// A radix-2 butterfly: replaces (a, b) by (a + w b, a - w b).
template <class V>
CRESCENT_IN_CLONES void butterfly(V& ar, V& ai, V& br, V& bi, double wr, double wi) {
  const V xr = br * wr - bi * wi, xi = br * wi + bi * wr;
  br = ar - xr, bi = ai - xi;
  ar = ar + xr, ai = ai + xi;
}

/// Computes the first stage, which combines adjacent elements and has the twiddle factor 1.
template <class V>
CRESCENT_IN_CLONES void first_butterfly_stage(V* re, V* im, size_t n) {
  for (size_t i = 0; i < n; i += 2) butterfly(re[i], im[i], re[i + 1], im[i + 1], 1.0, 0.0);
}

/// Computes two stages at once: the stage that combines halves of h elements, and the next one, for
/// halves of 2 h elements.
template <class V>
CRESCENT_IN_CLONES void two_butterfly_stages(V* re, V* im, size_t n, size_t h, const double* wr,
                                             const double* wi) {
  for (size_t start = 0; start < n; start += 4 * h) {
    V *ar = re + start, *br = ar + h, *cr = br + h, *dr = cr + h;
    V *ai = im + start, *bi = ai + h, *ci = bi + h, *di = ci + h;
    for (size_t k = 0; k < h; ++k) {
      V pr = ar[k], pi = ai[k], qr = br[k], qi = bi[k];
      V rr = cr[k], ri = ci[k], sr = dr[k], si = di[k];
      butterfly(pr, pi, qr, qi, wr[h + k], wi[h + k]);
      butterfly(rr, ri, sr, si, wr[h + k], wi[h + k]);
      butterfly(pr, pi, rr, ri, wr[2 * h + k], wi[2 * h + k]);
      butterfly(qr, qi, sr, si, wr[3 * h + k], wi[3 * h + k]);
      ar[k] = pr, ai[k] = pi, br[k] = qr, bi[k] = qi;
      cr[k] = rr, ci[k] = ri, dr[k] = sr, di[k] = si;
    }
  }
}

template <class V>
CRESCENT_IN_CLONES void all_stages(V* re, V* im, size_t n, const double* wr, const double* wi) {
  size_t h = 1;
  if (size_t stage_count = 0; n > 1) {
    while ((size_t{1} << stage_count) < n) ++stage_count;
    if (stage_count % 2 != 0) first_butterfly_stage(re, im, n), h = 2;
  }
  for (; h < n; h *= 4) two_butterfly_stages(re, im, n, h, wr, wi);
}

CRESCENT_IN_CLONES void all_stages_of_rows(double* re, double* im, size_t n, const double* wr,
                                           const double* wi) {
  all_stages(reinterpret_cast<Lanes*>(re), reinterpret_cast<Lanes*>(im), n, wr, wi);
}

CRESCENT_CLONES(transform_row, all_stages,
                (double* re, double* im, size_t n, const double* wr, const double* wi),
                (re, im, n, wr, wi))
CRESCENT_CLONES(transform_rows, all_stages_of_rows,
                (double* re, double* im, size_t n, const double* wr, const double* wi),
                (re, im, n, wr, wi))

/// Computes elements 0 to `half` of the Fourier transform of a row of 2 * half real numbers, in
/// place. On input, re and im hold the transform of `half` complex numbers, whose real parts are
/// the numbers at even indices of the row and whose imaginary parts are those at odd indices.
template <class V>
CRESCENT_IN_CLONES void unfold(V* re, V* im, size_t half, const double* wr, const double* wi) {
  re[half] = re[0], im[half] = im[0];
  for (size_t k = 0; k <= half / 2; ++k) {
    const size_t j = half - k;
    const V even_re = re[k] + re[j], even_im = im[k] - im[j];
    const V odd_re = im[k] + im[j], odd_im = re[j] - re[k];
    re[k] = 0.5 * (even_re + odd_re * wr[k] - odd_im * wi[k]);
    im[k] = 0.5 * (even_im + odd_re * wi[k] + odd_im * wr[k]);
    re[j] = 0.5 * (even_re + odd_re * wr[j] + odd_im * wi[j]);
    im[j] = 0.5 * (odd_re * wi[j] - even_im - odd_im * wr[j]);
  }
}

CRESCENT_IN_CLONES void unfold_lanes(double* re, double* im, size_t half, const double* wr,
                                     const double* wi) {
  unfold(reinterpret_cast<Lanes*>(re), reinterpret_cast<Lanes*>(im), half, wr, wi);
}

CRESCENT_CLONES(unfold_row, unfold,
                (double* re, double* im, size_t half, const double* wr, const double* wi),
                (re, im, half, wr, wi))
CRESCENT_CLONES(unfold_rows, unfold_lanes,
                (double* re, double* im, size_t half, const double* wr, const double* wi),
                (re, im, half, wr, wi))

/// The inverse of unfold(), whose results are multiplied by `scale`.
template <class V>
CRESCENT_IN_CLONES void fold(const V* re, const V* im, size_t half, const double* wr,
                             const double* wi, double scale, const size_t* indices, V* to_re,
                             V* to_im) {
  for (size_t k = 0; k <= half / 2; ++k) {
    const size_t j = half - k, index = indices ? indices[k] : k;
    // The imaginary parts of the first and the last element are ignored.
    const double imaginary_factor = k == 0 ? 0.0 : 1.0;
    const V a = re[k] * scale, b = im[k] * (scale * imaginary_factor), c = re[j] * scale,
            d = im[j] * (scale * imaginary_factor);
    const V even_re = a + c, even_im = b - d, apart_re = a - c, apart_im = b + d;
    const V odd_re = apart_re * wr[k] + apart_im * wi[k],
            odd_im = apart_im * wr[k] - apart_re * wi[k];
    to_re[index] = even_re - odd_im, to_im[index] = even_im + odd_re;
    if (k == 0) continue;
    const size_t target_index = indices ? indices[j] : j;
    to_re[target_index] = even_re + odd_im, to_im[target_index] = odd_re - even_im;
  }
}

CRESCENT_IN_CLONES void fold_lanes(const double* re, const double* im, size_t half,
                                   const double* wr, const double* wi, double scale,
                                   const size_t* indices, double* to_re, double* to_im) {
  fold(reinterpret_cast<const Lanes*>(re), reinterpret_cast<const Lanes*>(im), half, wr, wi, scale,
       indices, reinterpret_cast<Lanes*>(to_re), reinterpret_cast<Lanes*>(to_im));
}

#define CRESCENT_FOLD_PARAMETERS                                                        \
  (const double* re, const double* im, size_t half, const double* wr, const double* wi, \
   double scale, const size_t* indices, double* to_re, double* to_im)
CRESCENT_CLONES(fold_row, fold, CRESCENT_FOLD_PARAMETERS,
                (re, im, half, wr, wi, scale, indices, to_re, to_im))
CRESCENT_CLONES(fold_rows, fold_lanes, CRESCENT_FOLD_PARAMETERS,
                (re, im, half, wr, wi, scale, indices, to_re, to_im))
#undef CRESCENT_FOLD_PARAMETERS

/// Multiplies the complex elements of the buffer by the entries of a table.
void multiply(double* re, double* im, const ComplexTable& factors, size_t count, size_t lanes) {
  for (size_t k = 0; k < count; ++k) {
    const double wr = factors.re[k], wi = factors.im[k];
    for (size_t i = k * lanes; i < (k + 1) * lanes; ++i) {
      const double x = re[i];
      re[i] = x * wr - im[i] * wi;
      im[i] = x * wi + im[i] * wr;
    }
  }
}

size_t power_of_two_from(size_t n) {
  size_t power = 1;
  while (power < n) power *= 2;
  return power;
}

bool is_power_of_two(size_t n) { return (n & (n - 1)) == 0; }

}  // namespace

PowerOfTwoTransform::PowerOfTwoTransform(size_t n, int sign) : reversed_indices_(n) {
  for (size_t k = 1; k < n; ++k)
    reversed_indices_[k] = reversed_indices_[k / 2] / 2 + (k % 2 != 0 ? n / 2 : 0);
  twiddles_.re.resize(n), twiddles_.im.resize(n);
  for (size_t h = 1; h < n; h *= 2)
    for (size_t k = 0; k < h; ++k) {
      const auto w = root_of_unity(sign * static_cast<double>(k) / static_cast<double>(2 * h));
      twiddles_.re[h + k] = w.real(), twiddles_.im[h + k] = w.imag();
    }
}

void PowerOfTwoTransform::run(double* re, double* im, size_t lanes) const {
  const auto transform_lanes = lanes == 1 ? transform_row : transform_rows;
  transform_lanes(re, im, size(), twiddles_.re.data(), twiddles_.im.data());
}

void PowerOfTwoTransform::reorder(double* x, size_t lanes) const {
  for (size_t k = 0; k < size(); ++k)
    if (const size_t swap_index = index_of(k); k < swap_index)
      std::swap_ranges(x + k * lanes, x + (k + 1) * lanes, x + swap_index * lanes);
}

FourierTransform::FourierTransform(size_t n, int sign) : n_(n) {
  const bool is_power = is_power_of_two(n);
  if (!is_power && SmoothTransform::supports(n)) {
    smooth_ = SmoothTransform(n, sign);
    lanes_ = n <= kMaxLanesLength ? kLanes : 1;
    return;
  }
  const size_t transform_length = is_power ? n : power_of_two_from(2 * n);
  forward_ = PowerOfTwoTransform(transform_length, is_power ? sign : 1);
  lanes_ = transform_length <= kMaxLanesLength ? kLanes : 1;
  if (is_power) return;
  backward_ = PowerOfTwoTransform(transform_length, -1);
  chirp_.re.resize(n), chirp_.im.resize(n);
  spectrum_.re.assign(transform_length, 0), spectrum_.im.assign(transform_length, 0);
  for (size_t k = 0; k < n; ++k) {
    const auto w =
        root_of_unity(sign * static_cast<double>(k * k % (2 * n)) / static_cast<double>(2 * n));
    chirp_.re[k] = w.real(), chirp_.im[k] = w.imag();
    for (const size_t index : {k, (transform_length - k) % transform_length}) {
      spectrum_.re[forward_.index_of(index)] = w.real() / static_cast<double>(transform_length);
      spectrum_.im[forward_.index_of(index)] = -w.imag() / static_cast<double>(transform_length);
    }
  }
  forward_.run(spectrum_.re.data(), spectrum_.im.data(), 1);
}

void FourierTransform::run(double* re, double* im) const {
  if (smooth_.size() > 0) return smooth_.run(re, im, lanes_);
  if (is_power_of_two(n_)) return forward_.run(re, im, lanes_);
  multiply(re, im, chirp_, n_, lanes_);
  forward_.reorder(re, lanes_), forward_.reorder(im, lanes_);
  forward_.run(re, im, lanes_);
  multiply(re, im, spectrum_, width(), lanes_);
  backward_.reorder(re, lanes_), backward_.reorder(im, lanes_);
  backward_.run(re, im, lanes_);
  multiply(re, im, chirp_, n_, lanes_);
}

void unfold_real(double* re, double* im, size_t half, const ComplexTable& twiddles, size_t lanes) {
  const auto function = lanes == 1 ? unfold_row : unfold_rows;
  function(re, im, half, twiddles.re.data(), twiddles.im.data());
}

void fold_real(const double* re, const double* im, const ComplexTable& twiddles, double scale,
               const FourierTransform& transform, double* to_re, double* to_im) {
  const auto function = transform.lanes() == 1 ? fold_row : fold_rows;
  function(re, im, transform.size(), twiddles.re.data(), twiddles.im.data(), scale,
           transform.indices(), to_re, to_im);
}

}  // namespace crescent::operations

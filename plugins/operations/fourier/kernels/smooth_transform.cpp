#include "smooth_transform.h"

#include <cmath>
#include <numbers>

#include "../../kernels/clones.h"
#include "lanes.h"

namespace crescent::operations {
namespace {

typedef double SmoothLanes __attribute__((vector_size(kLanes * sizeof(double))));

/// The radix of the next stage. Radix 4 comes first, since it takes the fewest operations.
size_t next_radix(size_t n) {
  for (size_t radix : {4, 2, 3, 5, 7, 11, 13})
    if (n % radix == 0) return radix;
  return 0;
}

/// Transforms R numbers, where R is odd, using that the twiddle factors of numbers q and R - q are
/// complex conjugates.
template <size_t R, class V>
CRESCENT_IN_CLONES void odd_radix_butterfly(V* re, V* im, const SmoothStage& stage) {
  constexpr size_t kPairs = (R - 1) / 2;
  V even_re[kPairs], even_im[kPairs], odd_re[kPairs], odd_im[kPairs];
  const V first_re = re[0], first_im = im[0];
#pragma GCC unroll 8
  for (size_t q = 0; q < kPairs; ++q) {
    even_re[q] = re[q + 1] + re[R - 1 - q], even_im[q] = im[q + 1] + im[R - 1 - q];
    odd_re[q] = re[q + 1] - re[R - 1 - q], odd_im[q] = im[q + 1] - im[R - 1 - q];
    re[0] += even_re[q], im[0] += even_im[q];
  }
#pragma GCC unroll 8
  for (size_t j = 1; j <= kPairs; ++j) {
    V sum_re = first_re, sum_im = first_im, apart_re = V() + 0.0, apart_im = V() + 0.0;
#pragma GCC unroll 8
    for (size_t q = 1; q <= kPairs; ++q) {
      const double c = stage.cos[j * q % R], s = stage.sin[j * q % R];
      sum_re += c * even_re[q - 1], sum_im += c * even_im[q - 1];
      apart_re += s * odd_re[q - 1], apart_im += s * odd_im[q - 1];
    }
    re[j] = sum_re - apart_im, im[j] = sum_im + apart_re;
    re[R - j] = sum_re + apart_im, im[R - j] = sum_im - apart_re;
  }
}

template <class V>
CRESCENT_IN_CLONES void radix2_butterfly(V* re, V* im) {
  const V a = re[0], b = im[0];
  re[0] = a + re[1], im[0] = b + im[1];
  re[1] = a - re[1], im[1] = b - im[1];
}

/// Transforms 4 numbers; the rotation by a quarter turn is a multiplication by `sign` times i.
template <class V>
CRESCENT_IN_CLONES void radix4_butterfly(V* re, V* im, double sign) {
  const V even_re = re[0] + re[2], even_im = im[0] + im[2];
  const V difference_re = re[0] - re[2], difference_im = im[0] - im[2];
  const V odd_re = re[1] + re[3], odd_im = im[1] + im[3];
  const V turned_re = (im[3] - im[1]) * sign, turned_im = (re[1] - re[3]) * sign;
  re[0] = even_re + odd_re, im[0] = even_im + odd_im;
  re[1] = difference_re + turned_re, im[1] = difference_im + turned_im;
  re[2] = even_re - odd_re, im[2] = even_im - odd_im;
  re[3] = difference_re - turned_re, im[3] = difference_im - turned_im;
}

template <size_t R, class V>
CRESCENT_IN_CLONES void combine_parts(V* re, V* im, size_t n, const SmoothStage& stage) {
  const size_t h = stage.half;
  for (size_t start = 0; start < n; start += R * h) {
    for (size_t k = start; k < start + h; ++k) {
      V part_re[R], part_im[R];
      part_re[0] = re[k], part_im[0] = im[k];
#pragma GCC unroll 16
      for (size_t q = 1; q < R; ++q) {
        const size_t twiddle_index = (q - 1) * h + k - start;
        const double c = stage.re[twiddle_index], s = stage.im[twiddle_index];
        const V x = re[k + q * h], y = im[k + q * h];
        part_re[q] = x * c - y * s, part_im[q] = x * s + y * c;
      }
      if constexpr (R == 2)
        radix2_butterfly(part_re, part_im);
      else if constexpr (R == 4)
        radix4_butterfly(part_re, part_im, stage.sin[1]);
      else
        odd_radix_butterfly<R>(part_re, part_im, stage);
#pragma GCC unroll 16
      for (size_t q = 0; q < R; ++q) re[k + q * h] = part_re[q], im[k + q * h] = part_im[q];
    }
  }
}

template <class V>
CRESCENT_IN_CLONES void join_stage(V* re, V* im, size_t n, const SmoothStage& stage) {
  switch (stage.radix) {
    case 2:
      return combine_parts<2>(re, im, n, stage);
    case 3:
      return combine_parts<3>(re, im, n, stage);
    case 4:
      return combine_parts<4>(re, im, n, stage);
    case 5:
      return combine_parts<5>(re, im, n, stage);
    case 7:
      return combine_parts<7>(re, im, n, stage);
    case 11:
      return combine_parts<11>(re, im, n, stage);
    default:
      return combine_parts<13>(re, im, n, stage);
  }
}

CRESCENT_IN_CLONES void join_stage_of_rows(double* re, double* im, size_t n,
                                           const SmoothStage& stage) {
  join_stage(reinterpret_cast<SmoothLanes*>(re), reinterpret_cast<SmoothLanes*>(im), n, stage);
}

CRESCENT_CLONES(smooth_row, join_stage,
                (double* re, double* im, size_t n, const SmoothStage& stage), (re, im, n, stage))
CRESCENT_CLONES(smooth_rows, join_stage_of_rows,
                (double* re, double* im, size_t n, const SmoothStage& stage), (re, im, n, stage))

SmoothStage stage_of(size_t radix, size_t half, int sign) {
  SmoothStage stage{radix, half, {}, {}, {}, {}};
  const auto angle = [&](size_t steps, size_t of) {
    return sign * 2 * std::numbers::pi * static_cast<double>(steps) / static_cast<double>(of);
  };
  for (size_t q = 1; q < radix; ++q) {
    stage.cos[q] = std::cos(angle(q, radix)), stage.sin[q] = std::sin(angle(q, radix));
    for (size_t k = 0; k < half; ++k) {
      stage.re.push_back(std::cos(angle(q * k, radix * half)));
      stage.im.push_back(std::sin(angle(q * k, radix * half)));
    }
  }
  if (radix == 4) stage.sin[1] = sign;
  return stage;
}

}  // namespace

bool SmoothTransform::supports(size_t n) {
  while (n > 1) {
    const size_t radix = next_radix(n);
    if (radix == 0) return false;
    n /= radix;
  }
  return n == 1;
}

SmoothTransform::SmoothTransform(size_t n, int sign) : indices_{0} {
  for (size_t half = 1; half < n;) {
    const size_t radix = next_radix(n / half);
    std::vector<size_t> indices(radix * half);
    // element k of the input is element k / radix of part k % radix
    for (size_t k = 0; k < indices.size(); ++k) indices[k] = k % radix * half + indices_[k / radix];
    indices_ = std::move(indices);
    stages_.push_back(stage_of(radix, half, sign));
    half *= radix;
  }
}

void SmoothTransform::run(double* re, double* im, size_t lanes) const {
  for (const SmoothStage& stage : stages_)
    lanes == 1 ? smooth_row(re, im, size(), stage) : smooth_rows(re, im, size(), stage);
}

}  // namespace crescent::operations

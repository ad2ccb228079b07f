// Discrete Fourier transforms of rows, in double precision: sum x_k exp(sign 2 pi i j k / n).
#pragma once
#include <cstddef>
#include <vector>

#include "smooth_transform.h"

namespace crescent::operations {

struct ComplexTable {
  std::vector<double> re, im;
};

/// A transform whose length is a power of two.
class PowerOfTwoTransform {
 public:
  PowerOfTwoTransform() = default;
  PowerOfTwoTransform(size_t n, int sign);
  size_t size() const { return reversed_.size(); }
  /// The index at which the transform expects element k: the bits of k in reverse order.
  size_t index_of(size_t k) const { return reversed_[k]; }
  const size_t* indices() const { return reversed_.data(); }
  /// Transforms in place; each element consists of `lanes` numbers, one of each row, where `lanes`
  /// is 1 or 8.
  void run(double* re, double* im, size_t lanes) const;
  /// Moves elements from their order to the indices that index_of() gives.
  void reorder(double* x, size_t lanes) const;

 private:
  std::vector<size_t> reversed_;
  /// Twiddle factors; those of the stage that combines halves of h elements begin at index h.
  ComplexTable twiddles_;
};

/// A transform of any length. If the length has a large prime factor, it is computed as a
/// convolution with a chirp, whose length is a power of two (Bluestein). Several rows are
/// transformed at once: each element consists of one number of each row.
class FourierTransform {
 public:
  FourierTransform() = default;
  FourierTransform(size_t n, int sign);
  size_t size() const { return n_; }
  /// The number of rows that are transformed together: 8 for short rows, 1 for long ones.
  size_t lanes() const { return lanes_; }
  /// The number of elements per row in the buffer.
  size_t width() const { return smooth_.size() > 0 ? n_ : forward_.size(); }
  /// The index at which the transform expects element k of its input; its output is in order.
  size_t index_of(size_t k) const { return indices() ? indices()[k] : k; }
  /// index_of(k) for all k; null if the input is in order.
  const size_t* indices() const {
    if (smooth_.size() > 0) return smooth_.indices();
    return chirp_.re.empty() ? forward_.indices() : nullptr;
  }
  /// Transforms re and im, (width, lanes), in place. Elements that the caller does not set must be
  /// 0.
  void run(double* re, double* im) const;

 private:
  size_t n_ = 0, lanes_ = 1;
  SmoothTransform smooth_;                  ///< for lengths that are no power of two; else empty
  PowerOfTwoTransform forward_, backward_;  ///< backward_: the inverse, only with a chirp
  ComplexTable chirp_, spectrum_;           ///< the chirp, and its transform
};
/// Converts the transform of `half` complex numbers, whose real and imaginary parts are the
/// elements of a real row at even and at odd indices, to elements 0 to `half` of the transform of
/// that row, in place. twiddles: exp(-pi i k / half).
void unfold_real(double* re, double* im, size_t half, const ComplexTable& twiddles, size_t lanes);
/// The inverse of unfold_real(): converts elements 0 to `half` of a spectrum, times `scale`, to
/// `half` complex numbers whose transform (with sign 1) has the real row at its even and odd
/// indices. They are stored in the order that the transform expects. The first and the last element
/// are real.
void fold_real(const double* re, const double* im, const ComplexTable& twiddles, double scale,
               const FourierTransform& transform, double* to_re, double* to_im);

}  // namespace crescent::operations

// Discrete Fourier transforms of rows, in double precision: sum x_k exp(sign 2 pi i j k / n).
#pragma once
#include <cstddef>
#include <vector>

#include "smooth_transform.h"

namespace crescent::operations {

struct ComplexTable {
  std::vector<double> re, im;
};

/// A transform of rows whose length is a power of two.
class PowerOfTwoTransform {
 public:
  PowerOfTwoTransform() = default;
  PowerOfTwoTransform(size_t n, int sign);
  size_t size() const { return reversed_indices_.size(); }
  /// The index at which the buffer must contain element k of the input: the bits of k in reverse
  /// order.
  size_t index_of(size_t k) const { return reversed_indices_[k]; }
  const size_t* indices() const { return reversed_indices_.data(); }
  /// Transforms in place; each element consists of `lanes` numbers, one of each row, where `lanes`
  /// is 1 or 8.
  void run(double* re, double* im, size_t lanes) const;
  /// Moves the elements of the buffer from their natural order to the indices that index_of()
  /// gives.
  void reorder(double* x, size_t lanes) const;

 private:
  std::vector<size_t> reversed_indices_;
  /// The twiddle factors. Those for the stage that combines halves of h elements begin at index h.
  ComplexTable twiddles_;
};

/// A transform of any length. If the length has a large prime factor, the transform is computed by
/// convolution with a chirp, whose length is a power of two (Bluestein). Several rows are
/// transformed at once: each element of the buffer consists of one number of each row.
class FourierTransform {
 public:
  FourierTransform() = default;
  FourierTransform(size_t n, int sign);
  size_t size() const { return n_; }
  /// The number of rows that are transformed together: 8 for short rows, 1 for long ones.
  size_t lanes() const { return lanes_; }
  /// The number of elements per row in the buffer.
  size_t width() const { return smooth_.size() > 0 ? n_ : forward_.size(); }
  /// The index at which the buffer must contain element k of the input; the output is in natural
  /// order.
  size_t index_of(size_t k) const { return indices() ? indices()[k] : k; }
  /// index_of(k) for all k; null if the input is in natural order.
  const size_t* indices() const {
    if (smooth_.size() > 0) return smooth_.indices();
    return chirp_.re.empty() ? forward_.indices() : nullptr;
  }
  /// Transforms the buffers re and im, (width, lanes), in place. Elements that the caller does not
  /// set must be 0.
  void run(double* re, double* im) const;

 private:
  size_t n_ = 0, lanes_ = 1;
  /// Used for lengths with small prime factors that are not powers of two; else empty.
  SmoothTransform smooth_;
  /// backward_, the inverse of forward_, is only used with a chirp.
  PowerOfTwoTransform forward_, backward_;
  ComplexTable chirp_, spectrum_;  ///< the chirp, and the transform of the chirp
};
/// Converts the transform of `half` complex numbers, whose real and imaginary parts are the
/// elements of a real row at even and at odd indices, to elements 0 to `half` of the transform of
/// that row, in place. The table `twiddles` contains exp(-pi i k / half).
void unfold_real(double* re, double* im, size_t half, const ComplexTable& twiddles, size_t lanes);
/// The inverse of unfold_real(): converts elements 0 to `half` of a spectrum, multiplied by
/// `scale`, to `half` complex numbers. The transform of these, with sign 1, has the elements of the
/// real row with even and odd indices as real and imaginary parts. They are stored in the order
/// that the transform expects. The first and the last element of the spectrum must be real.
void fold_real(const double* re, const double* im, const ComplexTable& twiddles, double scale,
               const FourierTransform& transform, double* to_re, double* to_im);

}  // namespace crescent::operations

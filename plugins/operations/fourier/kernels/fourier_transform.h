// Discrete Fourier transforms of rows, in double precision: sum x_k exp(sign 2 pi i j k / n).
#pragma once
#include <cstddef>
#include <vector>

#include "smooth_transform.h"

namespace crescent::operations {

struct ComplexTable {
  std::vector<double> re, im;
};

/// Of a length that is a power of two.
class PowerOfTwoTransform {
 public:
  PowerOfTwoTransform() = default;
  PowerOfTwoTransform(size_t n, int sign);
  size_t size() const { return reversed_.size(); }
  /// Where the transform wants element k: at the place with the bits of k in reverse order.
  size_t place(size_t k) const { return reversed_[k]; }
  const size_t* places() const { return reversed_.data(); }
  /// In place; each element is `lanes` numbers of as many rows, 1 or 8.
  void run(double* re, double* im, size_t lanes) const;
  /// Elements that are in order to where the transform wants them.
  void reorder(double* x, size_t lanes) const;

 private:
  std::vector<size_t> reversed_;
  ComplexTable turns_;  ///< of the stage that joins halves of h elements: from h on
};

/// Of any length: one with a large prime factor is a convolution with a chirp, which has a power of
/// two as its length (Bluestein). Several rows are transformed at once, an element of each beside
/// the others.
class FourierTransform {
 public:
  FourierTransform() = default;
  FourierTransform(size_t n, int sign);
  size_t size() const { return n_; }
  /// Rows that are transformed together; more of short ones.
  size_t lanes() const { return lanes_; }
  /// Elements of the rows while they are transformed.
  size_t width() const { return smooth_.size() > 0 ? n_ : forward_.size(); }
  /// Where element k goes before; afterwards it is at k.
  size_t place(size_t k) const { return places() ? places()[k] : k; }
  /// All of them; null: everything stays where it is.
  const size_t* places() const {
    if (smooth_.size() > 0) return smooth_.places();
    return chirp_.re.empty() ? forward_.places() : nullptr;
  }
  /// Elements that are not set are 0. re and im: (width, lanes).
  void run(double* re, double* im) const;

 private:
  size_t n_ = 0, lanes_ = 1;
  SmoothTransform smooth_;                  ///< of a length that is no power of two; else empty
  PowerOfTwoTransform forward_, backward_;  ///< the way back, with a chirp only
  ComplexTable chirp_, spectrum_;           ///< of the chirp
};
/// What the transform of half as many complex numbers, those at even and those at odd places, says
/// of real ones: elements 0 to `half` of theirs, in place. turns: exp(-pi i k / half).
void unfold_real(double* re, double* im, size_t half, const ComplexTable& turns, size_t lanes);
/// The other way round: elements 0 to `half` times `scale`, as the `half` complex numbers whose
/// transform (of the sign 1) has the real ones at its even and odd places, in the transform's
/// order. The first and the last element are real.
void fold_real(const double* re, const double* im, const ComplexTable& turns, double scale,
               const FourierTransform& transform, double* to_re, double* to_im);

}  // namespace crescent::operations

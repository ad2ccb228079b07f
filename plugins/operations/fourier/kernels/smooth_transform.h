// Discrete Fourier transforms of lengths whose prime factors are small: sum x_k exp(sign 2 pi i j k
// / n).
#pragma once
#include <cstddef>
#include <vector>

namespace crescent::operations {

/// A stage of the transform. It combines the transforms of `radix` parts of `half` elements each to
/// one transform, and repeats this over the whole row.
struct SmoothStage {
  static constexpr size_t kMaxRadix = 13;
  size_t radix, half;
  /// The twiddle factors: that of element k of part q > 0 is at index (q - 1) * half + k.
  std::vector<double> re, im;
  /// Cosine and sine of the rotations by j / radix of a full turn, with the sign of the transform.
  double cos[kMaxRadix], sin[kMaxRadix];
};

class SmoothTransform {
 public:
  SmoothTransform() = default;
  SmoothTransform(size_t n, int sign);
  /// Whether there are loops for all prime factors of a length.
  static bool supports(size_t n);
  size_t size() const { return indices_.size(); }
  /// The index at which the buffer must contain element k of the input.
  size_t index_of(size_t k) const { return indices_[k]; }
  const size_t* indices() const { return indices_.data(); }
  /// Transforms in place; each element consists of `lanes` numbers, one of each row, where `lanes`
  /// is 1 or 8.
  void run(double* re, double* im, size_t lanes) const;

 private:
  std::vector<size_t> indices_;
  std::vector<SmoothStage> stages_;
};

}  // namespace crescent::operations

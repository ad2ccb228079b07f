// Discrete Fourier transforms of lengths that have small factors only: sum x_k exp(sign 2 pi i j k
// / n).
#pragma once
#include <cstddef>
#include <vector>

namespace crescent::operations {

/// A stage joins transforms of `radix` parts of `half` elements each, as often as fit.
struct SmoothStage {
  static constexpr size_t kMostRadix = 13;
  size_t radix, half;
  std::vector<double> re, im;  ///< turns of element k of part q > 0: at (q - 1) * half + k
  double cos[kMostRadix], sin[kMostRadix];  ///< of the turns by j / radix, with the sign
};

class SmoothTransform {
 public:
  SmoothTransform() = default;
  SmoothTransform(size_t n, int sign);
  /// Whether a length has no larger factor than what the stages have loops for.
  static bool takes(size_t n);
  size_t size() const { return places_.size(); }
  /// Where the transform wants element k.
  size_t place(size_t k) const { return places_[k]; }
  const size_t* places() const { return places_.data(); }
  /// In place; each element is `lanes` numbers of as many rows, 1 or 8.
  void run(double* re, double* im, size_t lanes) const;

 private:
  std::vector<size_t> places_;
  std::vector<SmoothStage> stages_;
};

}  // namespace crescent::operations

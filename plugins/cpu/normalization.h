// Loops of batch and layer normalization over a block of rows (rows, columns), row-major.
#pragma once
#include <cstdint>

namespace crescent::cpu {

template <class T>
struct Rows {
  int64_t rows, columns;
  const T* x;
};

/// The loops for the machine at hand.
template <class T>
struct NormalizationLoops {
  /// Per column: mean, and sum of squared deviations from it. Reads the block twice: it should fit the cache.
  void (*moments)(const Rows<T>& block, T* mean, T* deviation);
  /// y = (x - mean) scale + shift, all per column.
  void (*normalize)(const Rows<T>& block, const T* mean, const T* scale, const T* shift, T* y);
  /// Per column: sums of dy and of dy (x - mean).
  void (*products)(const Rows<T>& block, const T* dy, const T* mean, T* sum, T* product);
  /// dx = scale dy - (x - mean) slope - offset, all per column.
  void (*gradient)(const Rows<T>& block, const T* dy, const T* mean, const T* scale, const T* slope, const T* offset,
                   T* dx);
  /// Layer norm: y, and mean and reciprocal deviation of every row.
  void (*row_forward)(const Rows<T>& block, const T* gamma, const T* beta, double epsilon, T* y, T* mean, T* rstd);
  /// Layer norm: dx, and the sums over these rows that dgamma and dbeta are made of.
  void (*row_gradient)(const Rows<T>& block, const T* gamma, const T* mean, const T* rstd, const T* dy, T* dx,
                       T* dgamma, T* dbeta);
};

template <class T>
NormalizationLoops<T> normalization_loops();
template <>
NormalizationLoops<float> normalization_loops<float>();
template <>
NormalizationLoops<double> normalization_loops<double>();

}  // namespace crescent::cpu

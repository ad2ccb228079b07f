// Loops of batch and layer normalization on a row-major block (rows, columns).
#pragma once
#include <cstdint>

#include "kernel/half.h"

namespace crescent::cpu {

template <class T>
struct RowBlock {
  int64_t rows, columns;
  const T* x;
};

/// The loops, compiled for the best instruction set of the machine. x, y and their gradients have
/// type T; statistics and parameters have type S.
template <class T, class S = ComputeType<T>>
struct NormalizationLoops {
  /// Computes the mean of each column and the sum of squared deviations from it. The block is read
  /// twice, so it should fit the cache.
  void (*moments)(const RowBlock<T>& block, S* mean, S* squared_deviation_sum);
  /// Computes y = (x - mean) scale + shift, where mean, scale and shift have a value per column.
  void (*normalize)(const RowBlock<T>& block, const S* mean, const S* scale, const S* shift, T* y);
  /// Computes the sums of dy and of dy (x - mean) of each column.
  void (*products)(const RowBlock<T>& block, const T* dy, const S* mean, S* sum, S* product);
  /// Computes dx = scale dy - (x - mean) slope - offset, where mean, scale, slope and offset have a
  /// value per column.
  void (*gradient)(const RowBlock<T>& block, const T* dy, const S* mean, const S* scale,
                   const S* slope, const S* offset, T* dx);
  /// Layer normalization: computes y, and for each row the mean and the reciprocal standard
  /// deviation.
  void (*row_forward)(const RowBlock<T>& block, const S* gamma, const S* beta, double epsilon, T* y,
                      S* mean, S* rstd);
  /// Layer normalization: computes dx, and the sums over these rows for dgamma and dbeta.
  void (*row_gradient)(const RowBlock<T>& block, const S* gamma, const S* mean, const S* rstd,
                       const T* dy, T* dx, S* dgamma, S* dbeta);
};

/// Combines the moments of blocks of rows to the mean and the variance of column `column`. `means`
/// and `squared_deviations` have a row of `columns` values per block; rows(i) is the number of rows
/// of block i.
template <class S, class F>
void combine_moments(const S* means, const S* squared_deviations, int64_t blocks, int64_t columns,
                     int64_t column, F&& rows, S* mean, S* variance) {
  double count = 0, overall_mean = 0, squared_deviation_sum = 0;
  for (int64_t i = 0; i < blocks; ++i) {
    const double n = static_cast<double>(rows(i));
    count += n, overall_mean += n * means[i * columns + column];
  }
  overall_mean /= count;
  for (int64_t i = 0; i < blocks; ++i) {
    const double difference = means[i * columns + column] - overall_mean;
    squared_deviation_sum += squared_deviations[i * columns + column] +
                             static_cast<double>(rows(i)) * difference * difference;
  }
  mean[column] = static_cast<S>(overall_mean),
  variance[column] = static_cast<S>(squared_deviation_sum / count);
}

template <class T>
NormalizationLoops<T> normalization_loops();
template <>
NormalizationLoops<float> normalization_loops<float>();
template <>
NormalizationLoops<double> normalization_loops<double>();
template <>
NormalizationLoops<BFloat16> normalization_loops<BFloat16>();

}  // namespace crescent::cpu

// Singular value decompositions of several small matrices at once, by one-sided Jacobi rotations.
#pragma once
#include <cstddef>
#include <cstdint>

namespace crescent::operations {

inline constexpr int64_t kSvdLanes = 8;  ///< number of matrices that are decomposed at once

/// The number of doubles of scratch memory that svd_of_group() needs.
int64_t svd_work(int64_t m, int64_t n);
/// Computes u (m, k), descending s (k) and v' (k, n), k = min(m, n), of each of `count` <=
/// kSvdLanes contiguous matrices (m, n). For a matrix that contains NaN or infinity all results are
/// NaN. `work` must be 64-byte aligned.
void svd_of_group(const double* matrices, int64_t count, int64_t m, int64_t n, double* u, double* s,
                  double* vt, double* work);

}  // namespace crescent::operations

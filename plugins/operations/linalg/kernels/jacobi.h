// Singular values of small matrices, of several at once: by Jacobi's rotations of columns.
#pragma once
#include <cstddef>
#include <cstdint>

namespace crescent::operations {

inline constexpr int64_t kSvdLanes = 8;  ///< matrices that are decomposed at once

/// Numbers that svd_of_some() needs room for.
int64_t svd_work(int64_t m, int64_t n);
/// u (m, k), descending s (k) and v' (k, n), k = min(m, n), of each of `count` <= kSvdLanes
/// matrices (m, n), all of which lie one after the other. Not numbers where a matrix has such or
/// infinities. work: 64-byte aligned.
void svd_of_some(const double* matrices, int64_t count, int64_t m, int64_t n, double* u, double* s,
                 double* vt, double* work);

}  // namespace crescent::operations

// Interleaves eight rows so that element k of all rows is contiguous, and back: several Fourier
// transforms are computed at once on such rows.
#pragma once
#include <cstddef>

namespace crescent::operations {

inline constexpr size_t kLanes = 8;

/// Sets to[indices[k] * 8 + i] to element k of row i for k < n; rows are `stride` elements apart.
/// If `indices` is null, indices[k] is k.
void interleave_rows(const float* rows, size_t stride, size_t n, const size_t* indices, double* to);
/// Does the same as interleave_rows, but writes elements 2 k to `even` and elements 2 k + 1 to
/// `odd`.
void interleave_pairs(const float* rows, size_t stride, size_t n, const size_t* indices,
                      double* even, double* odd);
/// Sets element k of row i to from[k * 8 + i].
void split_rows(const double* from, size_t n, float* rows, size_t stride);
/// Does the same as split_rows, but reads elements 2 k from `even` and elements 2 k + 1 from `odd`,
/// k < n.
void split_pairs(const double* even, const double* odd, size_t n, float* rows, size_t stride);

}  // namespace crescent::operations

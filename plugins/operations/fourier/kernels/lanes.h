// Interleaves eight rows so that element k of all rows is contiguous, and back: several Fourier
// transforms are computed at once on such rows.
#pragma once
#include <cstddef>

namespace crescent::operations {

inline constexpr size_t kLanes = 8;

/// to[places[k] * 8 + i] = element k of row i, k < n; rows are `stride` apart. places[k] is k if
/// `indices` is null.
void take_rows(const float* rows, size_t stride, size_t n, const size_t* indices, double* to);
/// The same, with elements 2 k written to `even` and elements 2 k + 1 to `odd`.
void take_pairs(const float* rows, size_t stride, size_t n, const size_t* indices, double* even,
                double* odd);
/// Element k of row i = from[k * 8 + i].
void give_rows(const double* from, size_t n, float* rows, size_t stride);
/// The same, with elements 2 k read from `even` and elements 2 k + 1 from `odd`, k < n.
void give_pairs(const double* even, const double* odd, size_t n, float* rows, size_t stride);

}  // namespace crescent::operations

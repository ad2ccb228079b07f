#include "lanes.h"

#include <cstring>

#include "../../kernels/clones.h"
#include "../../kernels/square.h"

namespace crescent::operations {
namespace {

typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
typedef double Doubles __attribute__((vector_size(kLanes * sizeof(double))));

/// Loads elements k to k + 7 of eight rows as eight vectors, each of which contains one element of
/// every row.
CRESCENT_IN_CLONES void load_tile(const float* rows, size_t stride, size_t k, Floats* tile) {
  for (size_t i = 0; i < kLanes; ++i) std::memcpy(&tile[i], rows + i * stride + k, sizeof(Floats));
  transpose_square(tile);
}

CRESCENT_IN_CLONES void store_lanes(Floats x, double* to) {
  const Doubles doubles = __builtin_convertvector(x, Doubles);
  std::memcpy(to, &doubles, sizeof doubles);
}

CRESCENT_IN_CLONES size_t index_of(const size_t* indices, size_t k) {
  return indices ? indices[k] : k;
}

CRESCENT_IN_CLONES void interleave_all(const float* rows, size_t stride, size_t n,
                                       const size_t* indices, double* to) {
  size_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    Floats tile[kLanes];
    load_tile(rows, stride, k, tile);
    for (size_t j = 0; j < kLanes; ++j)
      store_lanes(tile[j], to + index_of(indices, k + j) * kLanes);
  }
  for (; k < n; ++k)
    for (size_t i = 0; i < kLanes; ++i)
      to[index_of(indices, k) * kLanes + i] = static_cast<double>(rows[i * stride + k]);
}

CRESCENT_IN_CLONES void interleave_both(const float* rows, size_t stride, size_t n,
                                        const size_t* indices, double* even, double* odd) {
  size_t k = 0;
  for (; k + kLanes / 2 <= n; k += kLanes / 2) {
    Floats tile[kLanes];
    load_tile(rows, stride, 2 * k, tile);
    for (size_t j = 0; j < kLanes / 2; ++j) {
      const size_t offset = index_of(indices, k + j) * kLanes;
      store_lanes(tile[2 * j], even + offset), store_lanes(tile[2 * j + 1], odd + offset);
    }
  }
  for (; k < n; ++k)
    for (size_t i = 0; i < kLanes; ++i) {
      const size_t offset = index_of(indices, k) * kLanes + i;
      even[offset] = static_cast<double>(rows[i * stride + 2 * k]);
      odd[offset] = static_cast<double>(rows[i * stride + 2 * k + 1]);
    }
}

CRESCENT_IN_CLONES void load_lanes(const double* from, Floats& x) {
  Doubles doubles;
  std::memcpy(&doubles, from, sizeof doubles);
  x = __builtin_convertvector(doubles, Floats);
}

CRESCENT_IN_CLONES void store_tile(Floats* tile, float* rows, size_t stride, size_t k) {
  transpose_square(tile);
  for (size_t i = 0; i < kLanes; ++i) std::memcpy(rows + i * stride + k, &tile[i], sizeof(Floats));
}

CRESCENT_IN_CLONES void split_all(const double* from, size_t n, float* rows, size_t stride) {
  size_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    Floats tile[kLanes];
    for (size_t j = 0; j < kLanes; ++j) load_lanes(from + (k + j) * kLanes, tile[j]);
    store_tile(tile, rows, stride, k);
  }
  for (; k < n; ++k)
    for (size_t i = 0; i < kLanes; ++i)
      rows[i * stride + k] = static_cast<float>(from[k * kLanes + i]);
}

CRESCENT_IN_CLONES void split_both(const double* even, const double* odd, size_t n, float* rows,
                                   size_t stride) {
  size_t k = 0;
  for (; k + kLanes / 2 <= n; k += kLanes / 2) {
    Floats tile[kLanes];
    for (size_t j = 0; j < kLanes / 2; ++j) {
      load_lanes(even + (k + j) * kLanes, tile[2 * j]);
      load_lanes(odd + (k + j) * kLanes, tile[2 * j + 1]);
    }
    store_tile(tile, rows, stride, 2 * k);
  }
  for (; k < n; ++k)
    for (size_t i = 0; i < kLanes; ++i) {
      rows[i * stride + 2 * k] = static_cast<float>(even[k * kLanes + i]);
      rows[i * stride + 2 * k + 1] = static_cast<float>(odd[k * kLanes + i]);
    }
}

CRESCENT_CLONES(best_interleave_all, interleave_all,
                (const float* rows, size_t stride, size_t n, const size_t* indices, double* to),
                (rows, stride, n, indices, to))
CRESCENT_CLONES(best_interleave_both, interleave_both,
                (const float* rows, size_t stride, size_t n, const size_t* indices, double* even,
                 double* odd),
                (rows, stride, n, indices, even, odd))
CRESCENT_CLONES(best_split_all, split_all,
                (const double* from, size_t n, float* rows, size_t stride), (from, n, rows, stride))
CRESCENT_CLONES(best_split_both, split_both,
                (const double* even, const double* odd, size_t n, float* rows, size_t stride),
                (even, odd, n, rows, stride))

}  // namespace

void interleave_rows(const float* rows, size_t stride, size_t n, const size_t* indices,
                     double* to) {
  best_interleave_all(rows, stride, n, indices, to);
}
void interleave_pairs(const float* rows, size_t stride, size_t n, const size_t* indices,
                      double* even, double* odd) {
  best_interleave_both(rows, stride, n, indices, even, odd);
}
void split_rows(const double* from, size_t n, float* rows, size_t stride) {
  best_split_all(from, n, rows, stride);
}
void split_pairs(const double* even, const double* odd, size_t n, float* rows, size_t stride) {
  best_split_both(even, odd, n, rows, stride);
}

}  // namespace crescent::operations

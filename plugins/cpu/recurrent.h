// Loops inside LSTM and GRU: products with packed recurrent weights, and what follows them, a row (one sample at one step)
// at a time.
#pragma once
#include <cstdint>

namespace crescent::cpu {

/// One step of some samples and some panels of units. States are dense (samples, units).
template <class T>
struct RecurrentStep {
  int64_t samples, units;
  int64_t first_panel, last_panel;   ///< panels of `lanes` units
  const T* weights;                  ///< packed by panels
  const T* bias;                     ///< of the states (gru)
  const T* h_before;
  T *h, *c;                          ///< c (lstm) holds the state before
  const T* x_part;                   ///< (samples, gates u) of this step, input bias included; lstm: may be `gates`
  T *gates, *hs, *cells;             ///< rows of this step in the results
  int64_t x_stride, gates_stride, state_stride;   ///< from sample to sample
};

template <class T>
struct RecurrentLoops {
  int64_t lanes;
  /// Panel `panel` of weights (u, gates u): for every input the columns of `lanes` units, gate by gate, zeros beyond the end.
  void (*pack)(int64_t units, int64_t gates, const T* weights, int64_t panel, T* packed);
  /// The transposed weights of gate `gate` (u, u), in panels of columns as multiply_transposed reads them.
  void (*pack_transposed)(int64_t units, int64_t gates, const T* weights, int64_t gate, T* packed);
  /// dh (samples, padded u) = dgates (samples, gates u) . weights' [+ dh].
  void (*multiply_transposed)(int64_t samples, int64_t units, int64_t gates, const T* dgates, const T* packed, bool add, T* dh);
  /// gates (4u: i, f, c, o) after activation; c and h follow.
  void (*lstm)(const RecurrentStep<T>& step);
  /// dh is the gradient of h; dc comes from the step after and leaves for the step before; dgates (4u) is added to dbias.
  void (*lstm_gradient)(int64_t units, const T* gates, const T* c_before, const T* c, const T* dh, const T* dhs, T* dc,
                        T* dgates, T* dgates_copy, T* dbias);
  /// gates (4u: z, r, candidate, state part of the candidate) and h from the parts of x and h (3u: z, r, h).
  void (*gru)(const RecurrentStep<T>& step);
  /// dh becomes what reaches h_before directly; dx_part and dh_part (3u) are added to the two rows of dbias.
  void (*gru_gradient)(int64_t units, const T* gates, const T* h_before, const T* dhs, T* dh, T* dx_part, T* dh_part,
                       T* dh_part_copy, T* dbias);
};

template <class T>
RecurrentLoops<T> recurrent_loops();
template <>
RecurrentLoops<float> recurrent_loops<float>();
template <>
RecurrentLoops<double> recurrent_loops<double>();

}  // namespace crescent::cpu

// Loops over the units of one row (one sample at one step) of LSTM and GRU.
#pragma once
#include <cstdint>

namespace crescent::cpu {

template <class T>
struct RecurrentLoops {
  /// gates (4u: i, f, c, o) before activation become those after it; c and h follow.
  void (*lstm)(int64_t units, T* gates, const T* c_before, T* c, T* h);
  /// dc comes from the step after and leaves for the step before; dgates (4u) is added to dbias.
  void (*lstm_gradient)(int64_t units, const T* gates, const T* c_before, const T* c, const T* dh, T* dc, T* dgates,
                        T* dbias);
  /// x_part and h_part (3u: z, r, h) with their biases -> gates (4u: z, r, candidate, h_part of the candidate) and h.
  void (*gru)(int64_t units, const T* x_part, const T* h_part, const T* h_before, T* gates, T* h);
  /// dh becomes what reaches h_before directly; dx_part and dh_part (3u) are added to the two rows of dbias.
  void (*gru_gradient)(int64_t units, const T* gates, const T* h_before, T* dh, T* dx_part, T* dh_part, T* dbias);
};

template <class T>
RecurrentLoops<T> recurrent_loops();
template <>
RecurrentLoops<float> recurrent_loops<float>();
template <>
RecurrentLoops<double> recurrent_loops<double>();

}  // namespace crescent::cpu

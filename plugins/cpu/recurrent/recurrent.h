// Loops of LSTM and GRU: matrix products that stay in a core's caches, and the operations on their
// results, one row (a sample at a step) at a time.
#pragma once
#include <cstdint>

namespace crescent::cpu {

/// The number of samples per part of the batch; a part runs all time steps on one thread.
constexpr int64_t kPartRows = 16;
/// The number of rows of the right matrix that a product reads before it moves to the next columns;
/// they stay in the first-level cache.
constexpr int64_t kDepth = 128;

/// The gates' input products of some steps: x . kernel + bias for some panels of `lanes` units.
template <class T>
struct RecurrentInput {
  int64_t samples, steps, features;
  int64_t first_panel, last_panel;
  const T *x, *kernel, *bias;  ///< x from the first sample and step on; kernel and bias in panels
  int64_t x_stride;            ///< distance between samples
  T* parts;                    ///< (panels, samples, steps, gates lanes)
};

/// One step of at most kPartRows samples for some panels of units.
template <class T>
struct RecurrentStep {
  int64_t samples, units;
  int64_t first_panel, last_panel;
  const T *weights, *bias;       ///< in panels; bias: of the recurrent product (GRU)
  const T *h_before, *c_before;  ///< (samples, u)
  const T* x_part;               ///< input products of this step
  T *h, *c, *gates;              ///< (samples, u), (samples, u), (samples, 4u)
  int64_t before_stride, c_stride, x_stride, state_stride, gates_stride;  ///< between samples
  int64_t x_panel;                                                        ///< between panels
};

template <class T>
struct RecurrentLoops {
  int64_t lanes;
  /// Packs panel `panel` of weights (rows, gates u): for each row the columns of `lanes` units,
  /// gate by gate, with zeros beyond the last unit.
  void (*pack)(int64_t rows, int64_t units, int64_t gates, const T* weights, int64_t panel,
               T* packed);
  /// Packs rows [block kDepth, ...) of the transpose of weights (columns, depth), for
  /// multiply_transposed.
  void (*pack_transposed)(int64_t columns, int64_t depth, const T* weights, int64_t block,
                          T* packed);
  /// c (rows, padded columns) = a (rows, depth) . weights', plus c where `add`.
  void (*multiply_transposed)(int64_t rows, int64_t columns, int64_t depth, const T* a, int64_t lda,
                              const T* packed, bool add, T* c);
  /// sum (inputs, padded columns) += x' dz, for x (rows, inputs) and dz (rows, padded columns).
  void (*add_weight_gradient)(int64_t rows, int64_t inputs, const T* x, int64_t ldx,
                              int64_t columns, const T* dz, int64_t ldz, T* sum);
  void (*lstm_input)(const RecurrentInput<T>& input);
  /// Computes the gates (4u: i, f, c, o) after their activations, then c and h.
  void (*lstm)(const RecurrentStep<T>& step);
  /// The same from the gates' products with x and with h, (rows, 4u) each.
  void (*lstm_gates)(int64_t rows, int64_t units, const T* x_part, const T* h_part,
                     const T* c_before, T* gates, T* c, T* h);
  /// dh is the gradient of h. dc is the gradient of c from the next step on input and that for the
  /// previous step on output; dgates (4u) is added to dbias.
  void (*lstm_gradient)(int64_t units, const T* gates, const T* c_before, const T* c, const T* dh,
                        const T* dhs, T* dc, T* dgates, T* dbias);
  void (*gru_input)(const RecurrentInput<T>& input);
  /// Computes the gates (4u: z, r, candidate, recurrent product of the candidate) and h from the
  /// products with x and h (3u: z, r, h).
  void (*gru)(const RecurrentStep<T>& step);
  /// dh becomes the direct gradient of h_before; dx_part and dh_part (3u) are added to the two rows
  /// of dbias.
  void (*gru_gradient)(int64_t units, const T* gates, const T* h_before, const T* dhs, T* dh,
                       T* dx_part, T* dh_part, T* dbias);
};

template <class T>
RecurrentLoops<T> recurrent_loops();
template <>
RecurrentLoops<float> recurrent_loops<float>();
template <>
RecurrentLoops<double> recurrent_loops<double>();

}  // namespace crescent::cpu

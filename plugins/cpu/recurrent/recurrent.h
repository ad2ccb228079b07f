// Loops of LSTM and GRU: matrix products that stay in a core's caches, and the operations on their
// results, one row (a sample at a step) at a time.
#pragma once
#include <cstdint>

namespace crescent::cpu {

/// The number of samples per part of the batch; a part runs all time steps on one thread.
constexpr int64_t kPartRows = 16;
/// The number of rows of the right matrix that a product reads before it moves to the next columns;
/// these rows stay in the first-level cache.
constexpr int64_t kDepth = 128;

/// The arguments for computing x . kernel + bias, the products of the gates with the inputs of some
/// steps, for some panels. A panel has the columns of `lanes` units.
template <class T>
struct RecurrentInput {
  int64_t samples, steps, features;
  int64_t first_panel, last_panel;
  /// `x` begins at the first sample and step; `kernel` and `bias` are packed in panels.
  const T *x, *kernel, *bias;
  int64_t x_stride;  ///< distance between samples in values
  T* products;       ///< the result, (panels, samples, steps, gates * lanes)
};

/// The arguments for computing one step of at most kPartRows samples, for some panels of units.
template <class T>
struct RecurrentStep {
  int64_t samples, units;
  int64_t first_panel, last_panel;
  /// Both are packed in panels; `bias` is added to the product with h (GRU only).
  const T *weights, *bias;
  const T *h_before, *c_before;  ///< the previous states, (samples, units)
  const T* x_products;  ///< the products of this step's inputs, from RecurrentInput::products
  /// The results: (samples, units), (samples, units), (samples, 4 * units).
  T *h, *c, *gates;
  /// Distances between samples in values.
  int64_t h_before_stride, c_stride, x_stride, state_stride, gates_stride;
  /// Distance between panels of x_products in values.
  int64_t x_panel_stride;
};

template <class T>
struct RecurrentLoops {
  int64_t lanes;
  /// Packs panel `panel` of weights (rows, gates * units): for each row the columns of `lanes`
  /// units, gate by gate, with zeros beyond the last unit.
  void (*pack)(int64_t rows, int64_t units, int64_t gates, const T* weights, int64_t panel,
               T* packed);
  /// Packs block `block`, which has kDepth rows, of the transpose of weights (columns, depth) for
  /// multiply_transposed.
  void (*pack_transposed)(int64_t columns, int64_t depth, const T* weights, int64_t block,
                          T* packed);
  /// Computes c (rows, padded columns) = a (rows, depth) . transpose(weights), plus c if
  /// `accumulates`.
  void (*multiply_transposed)(int64_t rows, int64_t columns, int64_t depth, const T* a, int64_t lda,
                              const T* packed, bool accumulates, T* c);
  /// Adds x' dz to sum (inputs, padded columns), for x (rows, inputs) and dz (rows, padded
  /// columns).
  void (*add_weight_gradient)(int64_t rows, int64_t inputs, const T* x, int64_t ldx,
                              int64_t columns, const T* dz, int64_t ldz, T* sum);
  void (*lstm_input)(const RecurrentInput<T>& input);
  /// Computes the four gates (i, f, candidate, o) after their activations, then c and h.
  void (*lstm)(const RecurrentStep<T>& step);
  /// Does the same as `lstm`, but from finished products with x and with h, (rows, 4 * units) each.
  void (*lstm_gates)(int64_t rows, int64_t units, const T* x_products, const T* h_products,
                     const T* c_before, T* gates, T* c, T* h);
  /// The gradient of an LSTM step. dh is the gradient of h. dc is, on input, the gradient of c that
  /// comes from the next step and, on output, the gradient of the previous c. The gradient of the
  /// gates, dgates (4 * units), is also added to dbias.
  void (*lstm_gradient)(int64_t units, const T* gates, const T* c_before, const T* c, const T* dh,
                        const T* dhs, T* dc, T* dgates, T* dbias);
  void (*gru_input)(const RecurrentInput<T>& input);
  /// Computes the gates (z, r, candidate, and the candidate's product with h; 4 * units) and h,
  /// from the products with x and with h (z, r, candidate; 3 * units).
  void (*gru)(const RecurrentStep<T>& step);
  /// The gradient of a GRU step. It replaces dh, the gradient of h, by the part of the gradient of
  /// h_before that does not come from products with weights. dx_products and dh_products (3 *
  /// units) are also added to the two rows of dbias.
  void (*gru_gradient)(int64_t units, const T* gates, const T* h_before, const T* dhs, T* dh,
                       T* dx_products, T* dh_products, T* dbias);
};

template <class T>
RecurrentLoops<T> recurrent_loops();
template <>
RecurrentLoops<float> recurrent_loops<float>();
template <>
RecurrentLoops<double> recurrent_loops<double>();

}  // namespace crescent::cpu

// The most used functions; the other headers of this folder have the rest, one header per family.
// Functions run eagerly on tensors with values, are recorded on abstract tensors, and are
// differentiable. Their names and semantics are those of keras.ops. The dtypes of two operands are
// promoted; a C++ number adopts the tensor's dtype, but 2.0 with an integer tensor gives float32 as
// in Python. Axes may be negative. Comments give shapes; error messages name the op and the shapes.
#pragma once
#include <optional>
#include <type_traits>

#include "crescent/program/op_types.h"
#include "crescent/tensor/variable.h"

namespace crescent {
class SeedGenerator;
}

namespace crescent::ops {

/// A tensor, or a number without a dtype; `whole` is true for integers such as 2, not for 2.0.
struct CRESCENT_API Operand {
  Operand(const Tensor& t) : tensor(t) {}
  Operand(const Variable& v) : tensor(v.value()) {}
  template <class Number>
  Operand(Number x) requires(std::is_arithmetic_v<Number>)
      : number(static_cast<double>(x)), whole(std::is_integral_v<Number>) {}
  Tensor tensor;
  double number = 0;
  bool whole = false;
};
/// The common dtype of two operands. A number adopts the tensor's dtype, except: a number with a
/// fraction gives float32 with an integer tensor; with a boolean tensor, integers give int32; and
/// an integer that does not fit gives a wider integer dtype. Two numbers give float32, two integers
/// int32 (int64 if they do not fit).
CRESCENT_API DType result_dtype(const Operand& a, const Operand& b);

// -- elementwise: the names in elementwise_ops.h
#define CRESCENT_UNARY(f, ...) CRESCENT_API Tensor f(const Tensor& x);
CRESCENT_UNARY_OPS(CRESCENT_UNARY)
#undef CRESCENT_UNARY
#define CRESCENT_BINARY(f, ...) CRESCENT_API Tensor f(const Operand& a, const Operand& b);
CRESCENT_BINARY_OPS(CRESCENT_BINARY)
#undef CRESCENT_BINARY
/// The elements of a where the condition, cast to bool, is true, else those of b. All three
/// broadcast; a and b get their common dtype.
CRESCENT_API Tensor where(const Tensor& condition, const Operand& a, const Operand& b);
/// Limits x to [low, high]; the gradient at the limits is 1. If low > high, the result is high.
CRESCENT_API Tensor clip(const Tensor& x, const Operand& low, const Operand& high);
/// As clip(), but the gradient at the limits is 0: relu6 is hard_tanh(x, 0, 6).
CRESCENT_API Tensor hard_tanh(const Tensor& x, double low = -1, double high = 1);
/// Converts x to the dtype; returns x itself if it has this dtype.
CRESCENT_API Tensor cast(const Tensor& x, DType dtype);
CRESCENT_API Tensor stop_gradient(const Tensor& x);    ///< x, through which no gradient flows
CRESCENT_API Tensor view_as_real(const Tensor& x);     ///< complex64 (...) -> float32 (..., 2)
CRESCENT_API Tensor view_as_complex(const Tensor& x);  ///< the inverse of view_as_real
/// The sum of tensors of one shape; an empty list gives the scalar 0.
CRESCENT_API Tensor add_n(std::span<const Tensor> tensors);

// -- activations
/// exp(x) divided by its sum along the axis.
CRESCENT_API Tensor softmax(const Tensor& x, int axis = -1);
/// The logarithm of softmax(x).
CRESCENT_API Tensor log_softmax(const Tensor& x, int axis = -1);
/// x where x > 0, else slope * x.
CRESCENT_API Tensor leaky_relu(const Tensor& x, double slope = 0.2);
/// x where x > 0, else alpha * (exp(x) - 1).
CRESCENT_API Tensor elu(const Tensor& x, double alpha = 1);
/// x P(X <= x) for a standard normal X, which is approximated by tanh if `approximate`.
CRESCENT_API Tensor gelu(const Tensor& x, bool approximate = true);
/// x * sigmoid(x).
CRESCENT_API Tensor silu(const Tensor& x);

// -- shape
/// The elements of x in another shape, of which one size may be -1: it is computed from the others.
/// Fails if the numbers of elements differ.
CRESCENT_API Tensor reshape(const Tensor& x, const Shape& shape);
/// (batch, ...) -> (batch, elements of a sample); (n) -> (n, 1), and a scalar -> (1, 1).
CRESCENT_API Tensor flatten(const Tensor& x);
/// Permutes the axes of x: axis i of the result is axes[i] of x; by default their order is
/// reversed.
CRESCENT_API Tensor transpose(const Tensor& x, std::vector<int> axes = {});
CRESCENT_API Tensor swap_axes(const Tensor& x, int a, int b);  ///< exchanges two axes
/// Inserts an axis of size 1, which has the index `axis` in the result.
CRESCENT_API Tensor expand_dims(const Tensor& x, int axis);
/// Removes the axis, which must have size 1; without an axis, removes all axes of size 1.
CRESCENT_API Tensor squeeze(const Tensor& x, std::optional<int> axis = {});
/// Repeats x along its axes of size 1 and along new leading axes, so that it gets the shape; fails
/// for shapes that do not broadcast.
CRESCENT_API Tensor broadcast_to(const Tensor& x, const Shape& shape);
CRESCENT_API Tensor repeat(const Tensor& x, int64_t n, int axis);  ///< repeats each element n times
/// Repeats x along each axis as often as `repeats` says; if there are more numbers than axes, the
/// result has new leading axes.
CRESCENT_API Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats);
/// Joins tensors along an axis that they have, in their common dtype; fails for an empty list, and
/// if other sizes differ.
CRESCENT_API Tensor concatenate(std::span<const Tensor> tensors, int axis = 0);
/// Joins tensors of one shape along a new axis, in their common dtype; fails for an empty list and
/// different shapes.
CRESCENT_API Tensor stack(std::span<const Tensor> tensors, int axis = 0);
/// Splits x along an axis into parts of these sizes, which must add up to the size of the axis;
/// split_at (shapes.h) takes the indices at which parts end.
CRESCENT_API Tensors split(const Tensor& x, const std::vector<int64_t>& sizes, int axis);
/// The part of x that begins at `start` and has this size. A size of -1 extends to the end of the
/// axis; axes beyond the given numbers are taken whole.
CRESCENT_API Tensor slice(const Tensor& x, const std::vector<int64_t>& start,
                          const std::vector<int64_t>& size);
/// Elements [first, last) of one axis with a step; negative positions count from the end.
CRESCENT_API Tensor slice_axis(const Tensor& x, int axis, int64_t first, int64_t last,
                               int64_t step = 1);
/// Adds before[i] and after[i] elements of `value` at the ends of axis i. Fails for negative
/// widths, and unless there is one for each axis.
CRESCENT_API Tensor pad(const Tensor& x, const std::vector<int64_t>& before,
                        const std::vector<int64_t>& after, double value = 0);
/// Reverses x along these axes, or along all axes if none are given.
CRESCENT_API Tensor flip(const Tensor& x, const std::vector<int>& axes);
/// The elements at `indices` along an axis; in the result, the shape of `indices` replaces that
/// axis. Without an axis, x is flattened. Negative indices count from the end.
CRESCENT_API Tensor take(const Tensor& x, const Tensor& indices, std::optional<int64_t> axis = {});
/// NumPy's take_along_axis: each index selects an element along the axis; the other axes of x and
/// `indices` broadcast.
CRESCENT_API Tensor take_along_axis(const Tensor& x, const Tensor& indices,
                                    std::optional<int64_t> axis = {});
/// As take(), but faster, because negative indices are not converted: they are errors, like indices
/// beyond the end. An index out of range fails when the op is computed.
CRESCENT_API Tensor gather(const Tensor& x, const Tensor& indices, int axis = 0);
/// As take_along_axis(), with indices as in gather(); x and `indices` have the same shape but for
/// the axis.
CRESCENT_API Tensor gather_along_axis(const Tensor& x, const Tensor& indices, int axis = -1);
/// Returns x as integers. A number outside of 0..size-1 is an error: "`what` 7 is out of range for
/// `of`". If `size` is -1, nothing is checked.
CRESCENT_API Tensor check_indices(const Tensor& x, int64_t size, const std::string& what,
                                  const std::string& of);
/// (...) -> (..., num_classes), or with the new axis at `axis`: 1 at the class number, else 0. A
/// number out of range gives zeros. The dtype is float32 unless given.
CRESCENT_API Tensor one_hot(const Tensor& x, int64_t num_classes, int axis = -1,
                            std::optional<DType> dtype = {});
CRESCENT_API Tensor one_hot(const Tensor& indices, int64_t num_classes, DType dtype);
CRESCENT_API Tensor zeros(const Shape& shape, DType dtype = DType::float32);
CRESCENT_API Tensor ones(const Shape& shape, DType dtype = DType::float32);
/// A tensor of this shape filled with a number, or with a tensor that broadcasts to the shape.
CRESCENT_API Tensor full(const Shape& shape, const Operand& value, DType dtype = DType::float32);
/// Zeros in the shape of x, whose unknown dimensions stay unknown; the dtype is that of x unless
/// given.
CRESCENT_API Tensor zeros_like(const Tensor& x, std::optional<DType> dtype = {});
CRESCENT_API Tensor ones_like(const Tensor& x, std::optional<DType> dtype = {});
CRESCENT_API Tensor arange(int64_t n, DType dtype = DType::int32);  ///< 0, 1, ..., n - 1
/// Ones on the k-th diagonal of a matrix with n rows and m (default: n) columns.
CRESCENT_API Tensor eye(int64_t n, std::optional<int64_t> m = {}, int64_t k = 0,
                        std::optional<DType> dtype = {});
CRESCENT_API Tensor eye(int64_t rows, int64_t columns, DType dtype);

// -- reductions; without axes, all axes are reduced. sum and prod give int32 for bool and for
// integers of fewer bits; mean gives floating numbers; max and min fail along an axis of size 0 if
// the result has elements; any and all give bool.
using Axes = std::vector<int>;
CRESCENT_API Tensor sum(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor mean(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor max(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor min(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor prod(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor any(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor all(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
/// The biased variance, which is the mean of squared distances from the mean.
CRESCENT_API Tensor variance(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
/// The square root of the variance.
CRESCENT_API Tensor std(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
/// The Euclidean norm.
CRESCENT_API Tensor norm(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
/// The logarithm of the sum of exp(x).
CRESCENT_API Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
/// The index of the maximum, int32; without an axis, in the flattened tensor.
CRESCENT_API Tensor argmax(const Tensor& x, std::optional<int64_t> axis = {},
                           bool keepdims = false);
CRESCENT_API Tensor argmin(const Tensor& x, std::optional<int64_t> axis = {},
                           bool keepdims = false);
/// The cumulative sum, in the dtype of x unless given; without an axis, of the flattened tensor.
CRESCENT_API Tensor cumsum(const Tensor& x, std::optional<int64_t> axis = {},
                           std::optional<DType> dtype = {});
/// The cumulative sum along an axis, from its end if `reverse`.
CRESCENT_API Tensor cumsum(const Tensor& x, int axis, bool reverse);
/// The k largest values along the last axis in descending order, and their int32 indices:
/// (..., n) -> two (..., k). Fails unless 1 <= k <= n.
CRESCENT_API Tensors top_k(const Tensor& x, int64_t k);
/// targets (rows), predictions (rows, classes) -> bool (rows): whether the prediction for the
/// target is among the k largest of its row. False for a target out of range, and if the prediction
/// for it is not finite.
CRESCENT_API Tensor in_top_k(const Tensor& targets, const Tensor& predictions, int64_t k);

// -- products
/// (..., m, k), (..., k, n) -> (..., m, n), where the leading axes broadcast. A vector is a row on
/// the left and a column on the right. Fails for scalars and for sizes that do not fit.
CRESCENT_API Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a = false,
                           bool transpose_b = false);
/// NumPy's dot: sums over the last axis of x1 and the second to last (or only) axis of x2.
CRESCENT_API Tensor dot(const Operand& x1, const Operand& x2);
/// The einsum of any number of operands. Without "->" in the equation, the output has the letters
/// that appear exactly once.
CRESCENT_API Tensor einsum(const std::string& equation, std::span<const Tensor> tensors);
enum class Padding : uint8_t { valid, same, causal };
enum class DataFormat : uint8_t { channels_last, channels_first };
/// x (batch, spatial..., in), kernel (spatial..., in / groups, out) -> (batch, spatial..., out).
/// `strides` and `dilation` have a number per spatial axis, or one for all. `groups` is by default
/// the channels of x divided by the input channels of the kernel, which must divide them.
CRESCENT_API Tensor conv(const Tensor& x, const Tensor& kernel, std::vector<int64_t> strides = {1},
                         Padding padding = Padding::valid, std::vector<int64_t> dilation = {1},
                         std::optional<int64_t> groups = {},
                         DataFormat format = DataFormat::channels_last);
/// A transposed convolution with a kernel (spatial..., out, in); the output has the length that
/// Keras computes.
CRESCENT_API Tensor conv_transpose(const Tensor& x, const Tensor& kernel,
                                   std::vector<int64_t> strides = {1},
                                   Padding padding = Padding::valid,
                                   std::vector<int64_t> dilation = {1},
                                   const std::vector<int64_t>& output_padding = {},
                                   DataFormat format = DataFormat::channels_last);
/// x (batch, spatial..., channels) -> the maximum of each window. By default the strides equal the
/// window.
CRESCENT_API Tensor max_pool(const Tensor& x, std::vector<int64_t> window,
                             std::vector<int64_t> strides = {}, Padding padding = Padding::valid,
                             DataFormat format = DataFormat::channels_last);
/// As max_pool(), but the mean of each window, in which padding is not counted.
CRESCENT_API Tensor average_pool(const Tensor& x, std::vector<int64_t> window,
                                 std::vector<int64_t> strides = {},
                                 Padding padding = Padding::valid,
                                 DataFormat format = DataFormat::channels_last);

// -- compound
/// logits (..., classes), class numbers (...) -> the loss of each row (...). A number outside of
/// 0..classes-1 fails when the op is computed.
CRESCENT_API Tensor sparse_softmax_cross_entropy(const Tensor& logits, const Tensor& labels);
/// logits (..., classes), probabilities (..., classes) -> the loss of each row (...).
CRESCENT_API Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& labels);
/// The normalized tensor, and the mean and the biased variance of each channel (channels).
struct BatchNormResult {
  Tensor y, mean, variance;
};
/// Normalizes x (..., channels) over all axes but the last; gamma and beta are (channels).
CRESCENT_API BatchNormResult batch_norm_train(const Tensor& x, const Tensor& gamma,
                                              const Tensor& beta, double epsilon);
/// Normalizes x over its last axis, along which gamma and beta are vectors.
CRESCENT_API Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                               double epsilon);
/// query (b,t,h,d), key (b,s,h,d), value (b,s,h,e) -> (b,t,h,e). The bool mask, which broadcasts to
/// (b,h,t,s), is true where a query may attend to a key; an empty Tensor allows all. If `causal`,
/// query i attends only to those of the allowed keys that are not after key i.
CRESCENT_API Tensor dot_product_attention(const Tensor& query, const Tensor& key,
                                          const Tensor& value, const Tensor& mask, double scale,
                                          bool causal = false);
/// As above, with dropout of the attention weights: those for which random.uniform((b,h,t,s)) is
/// below `dropout` become 0, and the others are divided by 1 - dropout, where 0 <= dropout < 1.
CRESCENT_API Tensor dot_product_attention(const Tensor& query, const Tensor& key,
                                          const Tensor& value, const Tensor& mask, double scale,
                                          bool causal, double dropout, const SeedGenerator& random);
/// The attention weights (b,h,t,s), with which dot_product_attention averages the values.
CRESCENT_API Tensor attention_weights(const Tensor& query, const Tensor& key, const Tensor& mask,
                                      double scale);
/// The outputs of all steps (batch, time, units) and the last states (batch, units).
struct LstmResult {
  Tensor sequence, h, c;
};
/// x (batch, time, features), states (batch, units), kernel (features, 4 units), recurrent (units,
/// 4 units), bias (4 units); the order of gates is i, f, c, o.
CRESCENT_API LstmResult lstm(const Tensor& x, const Tensor& h0, const Tensor& c0,
                             const Tensor& kernel, const Tensor& recurrent, const Tensor& bias);
/// The outputs of all steps (batch, time, units) and the last state (batch, units).
struct GruResult {
  Tensor sequence, h;
};
/// x (batch, time, features), state (batch, units), kernel (features, 3 units), recurrent (units, 3
/// units), bias (2, 3 units); the order of gates is z, r, h.
CRESCENT_API GruResult gru(const Tensor& x, const Tensor& h0, const Tensor& kernel,
                           const Tensor& recurrent, const Tensor& bias);

// -- several processes (communicator.h)
/// The sum, mean, max or min over all processes. The gradient is that of the total loss, which is
/// the sum of the losses of all processes.
CRESCENT_API Tensor all_reduce(const Tensor& x, ReduceKind kind = ReduceKind::sum);

// -- control flow: the function scan is declared in program.h

// -- linear algebra
struct QrResult {
  Tensor q, r;
};
/// The reduced QR factorization of one matrix (m, n): q (m, k), r (k, n), where k = min(m, n).
/// linalg.h has batches.
CRESCENT_API QrResult qr(const Tensor& a);
struct SvdResult {
  Tensor u, s, vt;
};
/// The singular value decomposition of one matrix (m, n): u (m, k), s (k) in descending order,
/// vt (k, n), where k = min(m, n). linalg.h has batches.
CRESCENT_API SvdResult svd(const Tensor& a);

}  // namespace crescent::ops

namespace crescent {
inline Tensor operator+(const ops::Operand& a, const Tensor& b) { return ops::add(a, b); }
template <class Number>
Tensor operator+(const Tensor& a, Number b) requires(std::is_arithmetic_v<Number>) {
  return ops::add(a, b);
}
inline Tensor operator-(const ops::Operand& a, const Tensor& b) { return ops::subtract(a, b); }
template <class Number>
Tensor operator-(const Tensor& a, Number b) requires(std::is_arithmetic_v<Number>) {
  return ops::subtract(a, b);
}
inline Tensor operator*(const ops::Operand& a, const Tensor& b) { return ops::multiply(a, b); }
template <class Number>
Tensor operator*(const Tensor& a, Number b) requires(std::is_arithmetic_v<Number>) {
  return ops::multiply(a, b);
}
inline Tensor operator/(const ops::Operand& a, const Tensor& b) { return ops::divide(a, b); }
template <class Number>
Tensor operator/(const Tensor& a, Number b) requires(std::is_arithmetic_v<Number>) {
  return ops::divide(a, b);
}
inline Tensor operator-(const Tensor& a) { return ops::negative(a); }
}  // namespace crescent

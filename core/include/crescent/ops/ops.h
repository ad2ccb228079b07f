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
CRESCENT_API Tensor where(const Tensor& condition, const Operand& a, const Operand& b);
/// Limits x to [low, high]; the gradient at the limits is 1. If low > high, the result is high.
CRESCENT_API Tensor clip(const Tensor& x, const Operand& low, const Operand& high);
/// As clip(), but the gradient at the limits is 0: relu6 is hard_tanh(x, 0, 6).
CRESCENT_API Tensor hard_tanh(const Tensor& x, double low = -1, double high = 1);
/// Converts x to the dtype; returns x itself if it has this dtype.
CRESCENT_API Tensor cast(const Tensor& x, DType dtype);
CRESCENT_API Tensor stop_gradient(const Tensor& x);
CRESCENT_API Tensor view_as_real(const Tensor& x);     ///< complex64 (...) -> float32 (..., 2)
CRESCENT_API Tensor view_as_complex(const Tensor& x);  ///< the inverse of view_as_real
/// The sum of tensors of one shape; an empty list gives the scalar 0.
CRESCENT_API Tensor add_n(std::span<const Tensor> tensors);

// -- activations
CRESCENT_API Tensor softmax(const Tensor& x, int axis = -1);
CRESCENT_API Tensor log_softmax(const Tensor& x, int axis = -1);
CRESCENT_API Tensor leaky_relu(const Tensor& x, double slope = 0.2);
CRESCENT_API Tensor elu(const Tensor& x, double alpha = 1);
CRESCENT_API Tensor gelu(const Tensor& x, bool approximate = true);
CRESCENT_API Tensor silu(const Tensor& x);

// -- shape
CRESCENT_API Tensor reshape(const Tensor& x, const Shape& shape);
CRESCENT_API Tensor flatten(const Tensor& x);
/// Permutes the axes of x: axis i of the result is axes[i] of x; by default their order is
/// reversed.
CRESCENT_API Tensor transpose(const Tensor& x, std::vector<int> axes = {});
CRESCENT_API Tensor swap_axes(const Tensor& x, int a, int b);
CRESCENT_API Tensor expand_dims(const Tensor& x, int axis);
CRESCENT_API Tensor squeeze(const Tensor& x, std::optional<int> axis = {});
CRESCENT_API Tensor broadcast_to(const Tensor& x, const Shape& shape);
CRESCENT_API Tensor repeat(const Tensor& x, int64_t n, int axis);  ///< repeats each element n times
/// Repeats x along each axis as often as `repeats` says; if there are more numbers than axes, the
/// result has new leading axes.
CRESCENT_API Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats);
CRESCENT_API Tensor concatenate(std::span<const Tensor> tensors, int axis = 0);
CRESCENT_API Tensor stack(std::span<const Tensor> tensors, int axis = 0);
/// Splits x into parts of these sizes; split_at (shapes.h) takes the indices at which parts end.
CRESCENT_API Tensors split(const Tensor& x, const std::vector<int64_t>& sizes, int axis);
/// The part of x that begins at `start` and has this size. A size of -1 extends to the end of the
/// axis; axes beyond the given numbers are taken whole.
CRESCENT_API Tensor slice(const Tensor& x, const std::vector<int64_t>& start,
                          const std::vector<int64_t>& size);
/// Elements [first, last) of one axis with a step; negative positions count from the end.
CRESCENT_API Tensor slice_axis(const Tensor& x, int axis, int64_t first, int64_t last,
                               int64_t step = 1);
CRESCENT_API Tensor pad(const Tensor& x, const std::vector<int64_t>& before,
                        const std::vector<int64_t>& after, double value = 0);
CRESCENT_API Tensor flip(const Tensor& x, const std::vector<int>& axes);
/// The elements at `indices` along an axis; in the result, the shape of `indices` replaces that
/// axis. Without an axis, x is flattened. Negative indices count from the end.
CRESCENT_API Tensor take(const Tensor& x, const Tensor& indices, std::optional<int64_t> axis = {});
/// NumPy's take_along_axis: each index selects an element along the axis; the other axes of x and
/// `indices` broadcast.
CRESCENT_API Tensor take_along_axis(const Tensor& x, const Tensor& indices,
                                    std::optional<int64_t> axis = {});
/// As take(), but faster because negative indices are errors.
CRESCENT_API Tensor gather(const Tensor& x, const Tensor& indices, int axis = 0);
CRESCENT_API Tensor gather_along_axis(const Tensor& x, const Tensor& indices, int axis = -1);
/// Returns x as integers. A number outside of 0..size-1 is an error: "`what` 7 is out of range for
/// `of`". If `size` is -1, nothing is checked.
CRESCENT_API Tensor check_indices(const Tensor& x, int64_t size, const std::string& what,
                                  const std::string& of);
/// One-hot vectors along an axis of the result, float32 unless the dtype is given.
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
CRESCENT_API Tensor arange(int64_t n, DType dtype = DType::int32);
/// Ones on the k-th diagonal of a matrix with n rows and m (default: n) columns.
CRESCENT_API Tensor eye(int64_t n, std::optional<int64_t> m = {}, int64_t k = 0,
                        std::optional<DType> dtype = {});
CRESCENT_API Tensor eye(int64_t rows, int64_t columns, DType dtype);

// -- reductions; without axes, all axes are reduced
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
CRESCENT_API Tensor std(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
/// The Euclidean norm.
CRESCENT_API Tensor norm(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
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
CRESCENT_API Tensors top_k(const Tensor& x, int64_t k);  ///< returns values and int32 indices
/// Whether the target of each row is among the k largest predictions: a bool for each row.
CRESCENT_API Tensor in_top_k(const Tensor& targets, const Tensor& predictions, int64_t k);

// -- products
CRESCENT_API Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a = false,
                           bool transpose_b = false);
/// NumPy's dot: sums over the last axis of x1 and the second to last (or only) axis of x2.
CRESCENT_API Tensor dot(const Operand& x1, const Operand& x2);
/// einsum of any number of operands; without "->" in the equation, the output has the letters that
/// appear exactly once.
CRESCENT_API Tensor einsum(const std::string& equation, std::span<const Tensor> tensors);
enum class Padding : uint8_t { valid, same, causal };
enum class DataFormat : uint8_t { channels_last, channels_first };
/// A convolution; `strides` and `dilation` have a number per spatial axis, or one for all. `groups`
/// is by default the channels of x divided by the input channels of the kernel.
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
/// The maximum of each window. By default the strides equal the window.
CRESCENT_API Tensor max_pool(const Tensor& x, std::vector<int64_t> window,
                             std::vector<int64_t> strides = {}, Padding padding = Padding::valid,
                             DataFormat format = DataFormat::channels_last);
CRESCENT_API Tensor average_pool(const Tensor& x, std::vector<int64_t> window,
                                 std::vector<int64_t> strides = {},
                                 Padding padding = Padding::valid,
                                 DataFormat format = DataFormat::channels_last);

// -- compound
/// The loss of each row; `labels` are class numbers.
CRESCENT_API Tensor sparse_softmax_cross_entropy(const Tensor& logits, const Tensor& labels);
/// The loss of each row; `labels` are probabilities in the shape of the logits.
CRESCENT_API Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& labels);
struct Moments {
  Tensor y, mean, variance;
};
/// Normalizes x over all axes but the last; mean and variance (biased) are vectors along the last
/// axis.
CRESCENT_API Moments batch_norm_train(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                      double epsilon);
/// Normalizes x over its last axis, along which gamma and beta are vectors.
CRESCENT_API Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                               double epsilon);
/// query (b,t,h,d), key (b,s,h,d), value (b,s,h,e) -> (b,t,h,e). The bool mask, which broadcasts to
/// (b,h,t,s), is true where a query may attend to a key; an empty Tensor allows all. If `causal`,
/// query i attends only to those of the allowed keys that are not after key i.
CRESCENT_API Tensor dot_product_attention(const Tensor& query, const Tensor& key,
                                          const Tensor& value, const Tensor& mask, double scale,
                                          bool causal = false);
/// As above, but the attention weights for which random.uniform((b,h,t,s)) is below `dropout`,
/// which is at least 0 and less than 1, become 0, and the others are divided by 1 - dropout.
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
/// The sum, mean, max or min over all processes. Its gradient is that of the sum of the losses of
/// all processes.
CRESCENT_API Tensor all_reduce(const Tensor& x, ReduceKind kind = ReduceKind::sum);

// -- control flow: the function scan is declared in program.h

// -- linear algebra
struct QrResult {
  Tensor q, r;
};
CRESCENT_API QrResult qr(const Tensor& a);
struct SvdResult {
  Tensor u, s, vt;
};
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

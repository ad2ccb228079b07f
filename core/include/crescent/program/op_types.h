// The built-in ops and their attributes, for authors of passes and devices. Users call ops.h.
// Layouts: images NHWC (channels last), kernels (spatial..., in, out), sequences (batch, time,
// features). Compound ops also decompose() into simple ones; a device may have a faster kernel for
// them.
#pragma once
#include "crescent/program/elementwise_ops.h"
#include "crescent/program/op.h"

namespace crescent {

class Program;

// ---- elementwise (NumPy broadcasting for binary and select)
CRESCENT_API const char* name_of(UnaryKind kind);
CRESCENT_API const char* name_of(BinaryKind kind);
inline std::string to_text(UnaryKind kind) { return name_of(kind); }
inline std::string to_text(BinaryKind kind) { return name_of(kind); }

// A macro opens each struct, which clang-format cannot see.
// clang-format off
#define CRESCENT_OP(Type, op_name)                    \
  struct CRESCENT_API Type final : OpOf<Type> {       \
    static constexpr const char* kName = op_name;     \
    TensorSpecs infer(std::span<const TensorSpec>) const override;

// `fields` is a template, so that only sources which compare or print an op compile it.
#define CRESCENT_FIELDS(...)                          \
  template <class = void>                             \
  auto fields() const {                               \
    return std::tie(__VA_ARGS__);                     \
  }

// A member of ops that only move elements and therefore accept any dtype.
#define CRESCENT_TAKES_ALL \
  bool supports_dtype(DType) const override { return true; }

CRESCENT_OP(Unary, "unary")                            // (x) -> y of the same shape
  UnaryKind kind{};
  CRESCENT_FIELDS(kind)
  std::string label() const override;
  Tensors vjp(const Vjp&) const override;
};
/// (a, b) -> y; the dtypes are equal (ops.h promotes); comparisons give bool.
CRESCENT_OP(Binary, "binary")
  BinaryKind kind{};
  CRESCENT_FIELDS(kind)
  bool supports_dtype(DType dtype) const override;  ///< strings only for equal and not_equal
  std::string label() const override;
  Tensors vjp(const Vjp&) const override;
};
CRESCENT_OP(Select, "select")                    // (bool condition, a, b) -> condition ? a : b
  CRESCENT_FIELDS()
  CRESCENT_TAKES_ALL
  Tensors vjp(const Vjp&) const override;
};
/// (x) -> x as dtype; float to int truncates. Complex numbers cannot be cast to other dtypes.
CRESCENT_OP(Cast, "cast")
  DType dtype{};
  CRESCENT_FIELDS(dtype)
  bool supports_dtype(DType dtype) const override { return dtype != DType::string; }
  Tensors vjp(const Vjp&) const override;
};
/// (x) -> the same bytes: complex64 (...) as float32 (..., 2), and the reverse.
CRESCENT_OP(Bitcast, "bitcast")
  DType dtype{};
  CRESCENT_FIELDS(dtype)
  bool supports_dtype(DType dtype) const override { return dtype != DType::string; }
  Tensors vjp(const Vjp&) const override;
};
CRESCENT_OP(StopGradient, "stop_gradient")             // (x) -> x; its gradient is zero
  CRESCENT_FIELDS()
  CRESCENT_TAKES_ALL
  Tensors vjp(const Vjp&) const override;
};

// ---- shape
/// (x) -> x in another shape; a single -1 in `shape` is computed from the number of elements, or
/// stays unknown if that is unknown.
CRESCENT_OP(Reshape, "reshape")
  Shape shape;
  CRESCENT_FIELDS(shape)
  CRESCENT_TAKES_ALL
  Tensors vjp(const Vjp&) const override;
};
CRESCENT_OP(BroadcastTo, "broadcast_to")               // (x) -> x broadcast to `shape`
  Shape shape;
  CRESCENT_FIELDS(shape)
  CRESCENT_TAKES_ALL
  Tensors vjp(const Vjp&) const override;
};
CRESCENT_OP(Transpose, "transpose")  // (x) -> x whose axis i is axis axes[i] of the input
  std::vector<int> axes;
  CRESCENT_FIELDS(axes)
  CRESCENT_TAKES_ALL
  Tensors vjp(const Vjp&) const override;
};
CRESCENT_OP(Concat, "concat")                          // (a, b, ...) -> joined along `axis`
  int axis = 0;                                        ///< not negative
  CRESCENT_FIELDS(axis)
  CRESCENT_TAKES_ALL
  Tensors vjp(const Vjp&) const override;
};
/// (x) -> the elements at start[i] + k * stride[i], k < size[i], of each axis i. A size of -1
/// reaches to the end of the axis and requires a stride of 1.
CRESCENT_OP(Slice, "slice")
  std::vector<int64_t> start, size, stride;
  CRESCENT_FIELDS(start, size, stride)
  CRESCENT_TAKES_ALL
  Tensors vjp(const Vjp&) const override;
};
/// (x) -> x padded with `value`: `before` and `after` elements at the ends of each axis, and
/// `inner` elements between neighbours, which the gradient of a strided slice needs.
CRESCENT_OP(Pad, "pad")
  std::vector<int64_t> before, after, inner;
  double value = 0;
  CRESCENT_FIELDS(before, after, inner, value)
  CRESCENT_TAKES_ALL
  Tensors vjp(const Vjp&) const override;
};
CRESCENT_OP(Reverse, "reverse")                        // (x) -> x reversed along `axes`
  std::vector<int> axes;
  CRESCENT_FIELDS(axes)
  CRESCENT_TAKES_ALL
  Tensors vjp(const Vjp&) const override;
};
/// (numbers) -> the same numbers as integers; floating numbers become int32. A run fails at the
/// first number outside of 0..size-1 with "`what` 7 is out of range for `of`". It fails before it
/// writes any variable, unless the numbers depend on a written variable.
CRESCENT_OP(CheckIndices, "check_indices")
  int64_t size = 0;
  std::string what, of;
  CRESCENT_FIELDS(size, what, of)
  Effect effect() const override { return Effect::check; }
};
/// (x, int indices) -> the elements at the indices along `axis`, with the shape x.shape[:axis] +
/// indices.shape + x.shape[axis+1:]. CheckIndices must precede it where an index may be out of
/// range; devices clamp unchecked indices.
CRESCENT_OP(Gather, "gather")
  int axis = 0;
  CRESCENT_FIELDS(axis)
  CRESCENT_TAKES_ALL
  Tensors vjp(const Vjp&) const override;
};
/// (int indices, updates) -> zeros(size along axis) with updates added at the indices; the adjoint
/// of Gather.
CRESCENT_OP(ScatterAdd, "scatter_add")
  int axis = 0;
  int64_t size = 0;
  CRESCENT_FIELDS(axis, size)
  Tensors vjp(const Vjp&) const override;
};
CRESCENT_OP(TakeAlong, "take_along")  // (x, int indices of the rank of x) -> elements along `axis`
  int axis = -1;
  CRESCENT_FIELDS(axis)
  CRESCENT_TAKES_ALL
  Tensors vjp(const Vjp&) const override;
};
/// (int indices) -> one-hot rows (..., depth); an index out of range gives a row of zeros.
CRESCENT_OP(OneHot, "one_hot")
  int64_t depth = 0;
  DType dtype = DType::float32;
  CRESCENT_FIELDS(depth, dtype)
};
CRESCENT_OP(Fill, "fill")                              // () -> a tensor filled with a constant
  Shape shape;
  DType dtype{};
  double value = 0;
  CRESCENT_FIELDS(shape, dtype, value)
};
CRESCENT_OP(Iota, "iota")                              // () -> 0, 1, 2, ... along axis
  Shape shape;
  DType dtype{};
  int axis = 0;
  CRESCENT_FIELDS(shape, dtype, axis)
};

// ---- reductions
enum class ReduceKind : uint8_t { sum, mean, max, min, prod, any, all };
CRESCENT_API const char* name_of(ReduceKind kind);
inline std::string to_text(ReduceKind kind) { return name_of(kind); }
/// (x) -> x reduced over `axes`, which are sorted and not negative. The gradient of a maximum or
/// minimum is divided among equal elements.
CRESCENT_OP(Reduce, "reduce")
  ReduceKind kind{};
  std::vector<int> axes;
  bool keepdims = false;
  CRESCENT_FIELDS(kind, axes, keepdims)
  std::string label() const override;
  Tensors vjp(const Vjp&) const override;
};
CRESCENT_OP(ArgReduce, "arg_reduce")  // (x) -> int64 index of the extreme; the first of equal ones
  bool max = true;
  int axis = -1;
  CRESCENT_FIELDS(max, axis)
  std::string label() const override;
};
CRESCENT_OP(Cumulative, "cumulative")                  // (x) -> running sums along `axis`
  int axis = 0;
  bool reverse = false;
  CRESCENT_FIELDS(axis, reverse)
  Tensors vjp(const Vjp&) const override;
};
/// (x) -> the k largest values of the last axis in descending order, and their int32 indices; equal
/// values keep their order.
CRESCENT_OP(TopK, "top_k")
  int64_t k = 1;
  CRESCENT_FIELDS(k)
  Tensors vjp(const Vjp&) const override;
};

// ---- products
/// (a (..., m, k), b (..., k, n)) -> matrix products (..., m, n); leading axes broadcast, and both
/// operands have at least 2 axes.
CRESCENT_OP(Matmul, "matmul")
  bool transpose_a = false, transpose_b = false;
  CRESCENT_FIELDS(transpose_a, transpose_b)
  std::string label() const override;
  Tensors vjp(const Vjp&) const override;
  /// Decomposes products with an empty operand, whose result is zeros, and products of 8-bit
  /// integers; returns no tensors for other products.
  Tensors decompose(std::span<const Tensor>) const override;
};

/// Geometry of a convolution or pooling over 1, 2 or 3 spatial axes.
struct ConvSpec {
  std::vector<int64_t> strides, dilation, pad_before, pad_after;
  int64_t groups = 1;
  bool operator==(const ConvSpec&) const = default;
  CRESCENT_API size_t hash() const;
};
CRESCENT_API std::string to_text(const ConvSpec& spec);
/// (x, kernel (spatial..., in/groups, out)) -> the cross-correlation.
CRESCENT_OP(Conv, "conv")
  ConvSpec spec;
  CRESCENT_FIELDS(spec)
  Tensors vjp(const Vjp&) const override;
  /// Returns zeros if an input has no elements; otherwise returns no tensors.
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (dy, kernel) -> dx of shape `input`, whose batch dimension may be -1. Conv*Transpose layers
/// compute it as their output.
CRESCENT_OP(ConvBackwardData, "conv_backward_data")
  ConvSpec spec;
  Shape input;
  CRESCENT_FIELDS(spec, input)
  Tensors vjp(const Vjp&) const override;
  /// Returns zeros if an input has no elements; otherwise returns no tensors.
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (x, dy) -> dkernel of shape `kernel`.
CRESCENT_OP(ConvBackwardKernel, "conv_backward_kernel")
  ConvSpec spec;
  Shape kernel;
  CRESCENT_FIELDS(spec, kernel)
  Tensors vjp(const Vjp&) const override;
  /// Returns zeros if an input has no elements; otherwise returns no tensors.
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (x) -> the maximum or average of each window; an average counts only elements inside of x.
CRESCENT_OP(Pool, "pool")
  bool max = true;
  std::vector<int64_t> window;
  ConvSpec spec;  // its dilation and groups are 1
  CRESCENT_FIELDS(max, window, spec)
  std::string label() const override;
  Tensors vjp(const Vjp&) const override;
};
/// max: (x, dy) -> dx of shape `input`, average: (dy) -> dx. The gradient of a maximum goes to the
/// first of equal elements.
CRESCENT_OP(PoolBackward, "pool_backward")
  bool max = true;
  std::vector<int64_t> window;
  ConvSpec spec;
  Shape input;
  CRESCENT_FIELDS(max, window, spec, input)
  std::string label() const override;
  Tensors vjp(const Vjp&) const override;
};

// ---- compound ops
CRESCENT_OP(Softmax, "softmax")                        // (x) -> softmax or its logarithm
  int axis = -1;
  bool log = false;
  CRESCENT_FIELDS(axis, log)
  Tensors vjp(const Vjp&) const override;
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (logits, labels) -> loss of each row. If `sparse`, labels are integers (...,), checked by
/// CheckIndices; otherwise they have the shape of the logits.
CRESCENT_OP(SoftmaxCrossEntropy, "softmax_cross_entropy")
  bool sparse = true;
  CRESCENT_FIELDS(sparse)
  Tensors vjp(const Vjp&) const override;
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (logits, labels, upstream per row) -> (softmax(logits) * sum(labels) - labels) * upstream.
CRESCENT_OP(SoftmaxCrossEntropyBackward, "softmax_cross_entropy_backward")
  bool sparse = true;
  CRESCENT_FIELDS(sparse)
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (x) -> mean, variance (biased) over all axes but the last.
CRESCENT_OP(BatchMoments, "batch_moments")
  CRESCENT_FIELDS()
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (x, gamma, beta) -> y, mean, variance; mean and variance are those of BatchMoments.
CRESCENT_OP(BatchNormTrain, "batch_norm_train")
  double epsilon = 1e-3;
  CRESCENT_FIELDS(epsilon)
  Tensors vjp(const Vjp&) const override;
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (x, gamma, mean, variance, dy) -> dx, dgamma, dbeta.
CRESCENT_OP(BatchNormBackward, "batch_norm_backward")
  double epsilon = 1e-3;
  CRESCENT_FIELDS(epsilon)
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (x, gamma, beta) -> y, mean, 1 / standard deviation of each row; normalizes over the last axis.
CRESCENT_OP(LayerNorm, "layer_norm")
  double epsilon = 1e-3;
  CRESCENT_FIELDS(epsilon)
  Tensors vjp(const Vjp&) const override;
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (x, gamma, mean, rstd, dy) -> dx, dgamma, dbeta.
CRESCENT_OP(LayerNormBackward, "layer_norm_backward")
  double epsilon = 1e-3;
  CRESCENT_FIELDS(epsilon)
  Tensors decompose(std::span<const Tensor>) const override;
};
/// The score of a masked key, far below all others and finite in `dtype`, the dtype of scores
/// (Keras' numbers). A query whose keys are all masked therefore gives them equal weights.
constexpr double masked_score(DType dtype) { return dtype == DType::float16 ? -3e4 : -1e9; }
/// Scaled dot-product attention: softmax(scale q k') v for every head. Scores of masked keys are
/// masked_score of the dtype that scores are computed in; if `causal`, query i may attend only to
/// keys up to i, even if the mask allows others. (q (b,t,h,d), k (b,s,h,d), v (b,s,h,e)[, bool
/// mask, broadcast to (b,h,t,s)][, int64 state[2]]) -> context (b,t,h,e), statistics (b,h,t,2). The
/// statistics, which the gradient reads, are the maximum of each query's scores and the sum of
/// exp(score - maximum).
///
/// If `dropout` is above 0, the last input is the state of a draw (Random) of float32 numbers in
/// [0, 1), of shape (rows,h,t,s), of which the b rows from `first_row` on belong to the rows of q.
/// Weights whose number is below `dropout` become 0, the others are divided by 1 - dropout.
CRESCENT_OP(Attention, "attention")
  double scale = 1;
  bool causal = false;
  double dropout = 0;
  int64_t first_row = 0;
  CRESCENT_FIELDS(scale, causal, dropout, first_row)
  Tensors vjp(const Vjp&) const override;
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (q, k, v, context, statistics, dcontext[, mask][, state]) -> dq, dk, dv.
CRESCENT_OP(AttentionBackward, "attention_backward")
  double scale = 1;
  bool causal = false;
  double dropout = 0;
  int64_t first_row = 0;
  CRESCENT_FIELDS(scale, causal, dropout, first_row)
  Tensors decompose(std::span<const Tensor>) const override;
};
/// Standard LSTM over time (sigmoid gates, tanh; gate order i, f, c, o).
/// (x, h0, c0, kernel, recurrent, bias) -> h of every step (b,t,u), last h, last c, gates (b,t,4u)
/// after activation, cells (b,t,u).
CRESCENT_OP(Lstm, "lstm")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
  Tensors decompose(std::span<const Tensor>) const override;      // into a Scan
};
/// (x, h0, c0, kernel, recurrent, hs, gates, cells, dhs, dlast_h, dlast_c) -> dx, dh0, dc0,
/// dkernel, drecurrent, dbias.
CRESCENT_OP(LstmBackward, "lstm_backward")
  CRESCENT_FIELDS()
  Tensors decompose(std::span<const Tensor>) const override;
};
/// Standard GRU over time, reset_after = true (gate order z, r, h; bias (2, 3u)).
/// (x, h0, kernel, recurrent, bias) -> h of every step, last h, gates (b,t,4u: z, r, candidate,
/// recurrent part of the candidate).
CRESCENT_OP(Gru, "gru")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (x, h0, kernel, recurrent, bias, hs, gates, dhs, dlast_h) -> dx, dh0, dkernel, drecurrent,
/// dbias.
CRESCENT_OP(GruBackward, "gru_backward")
  CRESCENT_FIELDS()
  Tensors decompose(std::span<const Tensor>) const override;
};

/// A loop over time steps. body: (states..., step inputs..., captured...) -> (next states..., step
/// outputs...). Inputs: states..., sequences (t, ...)..., captured.... Outputs: last states...,
/// stacked step outputs (t, ...)....
CRESCENT_OP(Scan, "scan")
  std::shared_ptr<const Program> body;
  int states = 0, sequences = 0;
  bool reverse = false;
  /// Whether the stacked states before every step are outputs too, for the gradient.
  bool keep_states = false;
  auto fields() const {
    return std::make_tuple(body.get(), states, sequences, reverse, keep_states);
  }
  CRESCENT_TAKES_ALL
  size_t hash() const override;
  std::string text() const override;
  bool equals(const Op& other) const override;
  /// The strongest effect of the ops in the body, where Effect::check counts as none.
  Effect effect() const override;
  Tensors vjp(const Vjp&) const override;
};

// ---- randomness (counter-based, Philox 4x32-10)
enum class RandomKind : uint8_t {
  uniform /* [a, b) */,
  normal /* mean a, deviation b */,
  truncated_normal /* redrawn beyond 2 b */,
  bits /* int32 */,
};
/// (int64 state[2] = seed, counter) -> values. Element i depends on seed, counter and i alone.
/// Equal Random ops are neither merged nor constant-folded, because each is a draw of its own.
CRESCENT_OP(Random, "random")
  RandomKind kind{};
  Shape shape;
  DType dtype = DType::float32;
  double a = 0, b = 1;
  CRESCENT_FIELDS(kind, shape, dtype, a, b)
  Effect effect() const override { return Effect::state; }
};

// ---- several processes (communicator.h)
/// (x) -> the sum, maximum or minimum of x over all processes; every process gets it.
CRESCENT_OP(AllReduce, "all_reduce")
  ReduceKind kind{};
  CRESCENT_FIELDS(kind)
  std::string label() const override;
  Effect effect() const override { return Effect::ordered; }
  Tensors vjp(const Vjp&) const override;
};

// ---- linear algebra
CRESCENT_OP(Qr, "qr")                            // (a (m,n)) -> q (m,k), r (k,n), k = min(m,n)
  CRESCENT_FIELDS()
};
CRESCENT_OP(Svd, "svd")                                // (a (m,n)) -> u (m,k), s (k), vt (k,n)
  CRESCENT_FIELDS()
};

}  // namespace crescent

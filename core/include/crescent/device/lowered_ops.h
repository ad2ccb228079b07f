// Lowered ops: ops that optimization passes put into programs for devices that have kernels for
// them (Capabilities in device.h). They concern authors of devices, not authors of layers and ops.
// They have no gradients because they are made after differentiation.
#pragma once
#include <algorithm>
#include <array>

#include "crescent/program/op_types.h"

namespace crescent {

// ---- elementwise chains

/// A step of the op Fused. A scatter is a ScatterAdd along axis 0 whose indices and updates are
/// inputs of any shape; it computes the gradient of an embedding table without storing the updates
/// as one tensor.
struct FusedStep {
  enum class Kind : uint8_t { unary, binary, select, cast, scatter } kind{};
  UnaryKind unary{};
  BinaryKind binary{};
  DType dtype{};              ///< dtype of the register that the step writes
  std::array<int, 3> args{};  ///< the registers that the step reads
  bool operator==(const FusedStep&) const = default;
  size_t hash() const {
    return detail::hash_bytes(this, 4) ^ detail::hash_bytes(args.data(), sizeof args);
  }
};
CRESCENT_API std::string to_text(const FusedStep& step);

/// (inputs...) -> outputs...: a chain of elementwise ops as one op. Registers 0..inputs-1 are the
/// inputs; step i writes register inputs+i. Inputs broadcast to `shape`; every output has `shape`.
struct CRESCENT_API Fused final : OpOf<Fused> {
  static constexpr const char* kName = "fused";
  Shape shape;
  std::vector<FusedStep> steps;
  std::vector<int> outputs;  ///< the registers that are outputs
  auto fields() const { return std::tie(shape, steps, outputs); }
  TensorSpecs infer(std::span<const TensorSpec>) const override;
  std::string label() const override;
  Tensors decompose(std::span<const Tensor>) const override;
};

// ---- products and convolutions

/// A post-op: an operation that a kernel applies to its result before storing it. Each bias, add
/// and mask reads one additional input.
enum class PostOp : uint8_t {
  bias /* + x (channels,) */,
  add /* + x */,
  mask /* 0 where not x > 0, as in the gradient of relu */,
  relu,
  sigmoid,
  tanh,
  moments /* must be last: the op also outputs BatchMoments of the result */,
};
CRESCENT_API const char* name_of(PostOp post);
inline bool reads_input(PostOp post) { return post <= PostOp::mask; }

/// Mixed precision of a product: operands of float32 or bfloat16, in any combination, are
/// multiplied as bfloat16 and summed in float32; the result is stored in the dtype that the
/// enumerator names. Inputs of post-ops are bfloat16.
enum class Mixed : uint8_t { no, to_bfloat16, to_float32 };

/// A Matmul, Conv, ConvBackwardData or ConvBackwardKernel followed by post-ops. Inputs: those of
/// `op`, then one for each post-op that reads an input. Outputs: the result and, for a post-op that
/// computes moments, mean and variance.
class CRESCENT_API WithPostOps final : public Op {
 public:
  static constexpr const char* kName = "with_post_ops";
  OpPtr op;
  std::vector<PostOp> post;
  Mixed mixed = Mixed::no;

  std::string_view name() const override { return kName; }
  TensorSpecs infer(std::span<const TensorSpec> inputs) const override;
  Tensors decompose(std::span<const Tensor> inputs) const override;
  bool equals(const Op& other) const override;
  size_t hash() const override;
  std::string text() const override;
  std::string label() const override;
  bool has(PostOp what) const { return std::find(post.begin(), post.end(), what) != post.end(); }

 private:
  size_t operands(size_t inputs) const;  ///< how many of the inputs are operands of `op`
};

// ---- max pooling that also outputs the indices of the maxima

/// (x) -> y, argmax_indices: the position of each maximum within its window, as uint8.
struct CRESCENT_API PoolArgmax final : OpOf<PoolArgmax> {
  static constexpr const char* kName = "pool_argmax";
  std::vector<int64_t> window;
  ConvSpec spec;
  auto fields() const { return std::tie(window, spec); }
  TensorSpecs infer(std::span<const TensorSpec>) const override;
  std::string label() const override { return "max_pool"; }
};
/// (argmax_indices, dy) -> dx of shape `input`.
struct CRESCENT_API PoolArgmaxBackward final : OpOf<PoolArgmaxBackward> {
  static constexpr const char* kName = "pool_argmax_backward";
  std::vector<int64_t> window;
  ConvSpec spec;
  Shape input;
  auto fields() const { return std::tie(window, spec, input); }
  TensorSpecs infer(std::span<const TensorSpec>) const override;
  std::string label() const override { return "max_pool_backward"; }
};
/// (inputs of the convolution...) -> the max-pooled result of the convolution. `conv` is a Conv,
/// possibly in WithPostOps; `pool` is a Pool or a PoolArgmax.
class CRESCENT_API ConvPool final : public Op {
 public:
  static constexpr const char* kName = "conv_pool";
  OpPtr conv, pool;

  std::string_view name() const override { return kName; }
  TensorSpecs infer(std::span<const TensorSpec> inputs) const override;
  Tensors decompose(std::span<const Tensor> inputs) const override;
  bool equals(const Op& other) const override;
  size_t hash() const override;
  std::string text() const override;
  std::string label() const override;
};

}  // namespace crescent

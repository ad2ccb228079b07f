// Batch norm at inference is x * factor + offset per channel, where factor and offset depend on
// variables alone. After a convolution, the factor is multiplied into the kernel. If it depends
// only on variables that the program never writes, the device computes that product once; otherwise
// each run does, so the rule applies only where the kernel is far smaller than the result of the
// convolution. The bias and the offset are added to each other; the convolution then adds their sum
// to its result (epilogues.cpp).
//
//   %4 = conv(%0, %1)                  %8 = multiply(%1, %2)
//   %5 = multiply(%4, %2)       ->     %4 = conv(%0, %8)
//   %6 = add(%5, %3)                   %6 = add(%4, %3)
//
// When bfloat16 is widened for batch norm and rounded after it, kernel and bias are scaled in
// float32 and then rounded. A factor in float16 or bfloat16 is not multiplied into the kernel: the
// products would be rounded, and in float16 they can overflow where the scaled sums do not.
#include "compile/passes/channels.h"
#include "compile/passes/passes.h"
#include "compile/passes/post_ops.h"
#include "compile/passes/rounding.h"

namespace crescent::passes {
namespace {

// The kernel is scaled in each run only if the result has at least this many times the elements of
// the kernel.
constexpr int64_t kMinSizeRatio = 4;

int scaled_kernel(Rewriting& r, int kernel, int channels, bool is_transposed) {
  const int64_t n = r.shape(channels)[0];
  const int factor = is_transposed ? r.reshaped(channels, {n, 1}) : channels;
  return r.add_binary(BinaryKind::multiply, kernel, factor);
}

bool is_transposed(const Matmul& op) { return op.transpose_b; }
bool is_transposed(const Conv&) { return false; }

template <class T>
int with_scaled_kernel(Rewriting& r, int product, int factor) {
  auto* producer = extendable_product<T>(r, product);
  if (!producer || !with_post_ops(producer->op).post.empty()) return kKeep;
  const int kernel = producer->inputs[1];
  if (!r.shape(kernel).is_known() || size_of(r.dtype(factor)) < 4) return kKeep;
  const bool is_computed_once =
      r.is_fixed_between_writes(kernel) && r.is_fixed_between_writes(factor);
  if (!is_computed_once && r.shape(kernel).size() * kMinSizeRatio > r.shape(product).size())
    return kKeep;
  const int widened_kernel = as_dtype(r, unrounded(r, kernel), r.dtype(factor));
  const int new_kernel = scaled_kernel(r, widened_kernel, as_channels(r, factor),
                                       is_transposed(*as<T>(*base_of(producer->op))));
  return r.add(producer->op, {producer->inputs[0], as_dtype(r, new_kernel, r.dtype(kernel))});
}

int product_with_scaled_kernel(Rewriting& r, int product, int factor) {
  const int y = with_scaled_kernel<Matmul>(r, product, factor);
  return y != kKeep ? y : with_scaled_kernel<Conv>(r, product, factor);
}

/// If the value is a sum x + bias where x has the spec of the value and the bias has one number per
/// channel, returns {x, bias}.
std::optional<std::pair<int, int>> split_bias(Rewriting& r, int value) {
  auto* sum = r.producer_as<Binary>(value);
  if (!sum || op_of<Binary>(*sum).kind != BinaryKind::add || !r.read_once(value)) return {};
  for (auto [x, bias] :
       {std::pair(sum->inputs[0], sum->inputs[1]), std::pair(sum->inputs[1], sum->inputs[0])}) {
    if (r.spec(x) == r.spec(value) && is_per_channel(r, bias, r.spec(value)))
      return std::pair(x, bias);
  }
  return {};
}

/// Multiplies a factor per channel into the kernel: rewrites (x @ kernel) * factor to
/// x @ (kernel * factor), and (x @ kernel + bias) * factor to x @ (kernel * factor) + bias *
/// factor, where @ is the product or convolution.
int scale_kernel(Rewriting& r, const Match& m) {
  const TensorSpec result_spec = r.result(m.call());
  const int scaled_value = m['x'], factor = m['f'];
  if (!(r.spec(scaled_value) == result_spec) || !is_per_channel(r, factor, result_spec))
    return kKeep;
  const int x = before_widening(r, scaled_value);
  if (const int y = product_with_scaled_kernel(r, x, factor); y != kKeep)
    return as_dtype(r, y, result_spec.dtype);
  const auto sum = split_bias(r, x);
  const int y = sum ? product_with_scaled_kernel(r, sum->first, factor) : kKeep;
  if (y == kKeep) return kKeep;
  const int channel_bias =
      as_channels(r, as_dtype(r, unrounded(r, sum->second), result_spec.dtype));
  return r.add_binary(BinaryKind::add, as_dtype(r, y, result_spec.dtype),
                      r.add_binary(BinaryKind::multiply, channel_bias, as_channels(r, factor)));
}

bool is_bare_product(Rewriting& r, int value) {
  return extendable_product<Conv>(r, value) || extendable_product<Matmul>(r, value);
}

/// Adds two vectors of one number per channel first: rewrites (y + bias) + offset to y + (bias +
/// offset).
int join_offsets(Rewriting& r, const Match& m) {
  const TensorSpec result = r.result(m.call());
  const int x = m['x'], offset = m['d'];
  if (!(r.spec(x) == result) || !is_per_channel(r, offset, result)) return kKeep;
  const auto sum = split_bias(r, x);
  if (!sum || !is_bare_product(r, before_widening(r, sum->first))) return kKeep;
  const int total_offset =
      r.add_binary(BinaryKind::add, as_channels(r, sum->second), as_channels(r, offset));
  return r.add_binary(BinaryKind::add, sum->first, total_offset);
}

/// If a value y is cast to float32 only to add a bias, and the sum is cast back to bfloat16, adds
/// the bias, rounded to bfloat16, to y instead.
int round_bias(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  const auto sum = split_bias(r, i.inputs[0]);
  if (!sum || r.result(i).dtype != DType::bfloat16) return kKeep;
  const int product_value = before_widening(r, sum->first);
  if (product_value == sum->first || !is_bare_product(r, product_value)) return kKeep;
  return r.add_binary(BinaryKind::add, product_value,
                      as_dtype(r, as_channels(r, sum->second), DType::bfloat16));
}

constexpr Condition kChannels{
    "x is a product or convolution, perhaps with a bias, that nobody else reads; f has a number a "
    "channel, and scaling the kernel costs less"};
constexpr Condition kTwoOffsets{
    "x is a product or convolution with a bias that nobody else reads; d has a number a channel"};
constexpr Condition kRoundedBias{
    "to bfloat16, of a product or convolution in bfloat16 that was widened for its bias alone"};

constexpr RewriteRule kBatchNormRules[] = {
    {"multiply(x, f)", "x by a scaled kernel", kChannels, scale_kernel, Digits::rounded},
    {"add(x, d)", "x with the sum of both offsets", kTwoOffsets, join_offsets, Digits::rounded},
    {"cast(x)", "add(product, cast(bias))", kRoundedBias, round_bias, Digits::rounded},
};

}  // namespace

const RuleTable& batch_norm_rules() {
  static const RuleTable table("batch_norm", kBatchNormRules);
  return table;
}

bool batch_norm(Program& program) { return batch_norm_rules().rewrite(program); }

}  // namespace crescent::passes

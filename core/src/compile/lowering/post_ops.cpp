// WithPostOps: a product or convolution with post-ops.
#include "crescent/device/lowered_ops.h"
#include "program/support.h"

namespace crescent {
namespace {

Tensor apply_post_op(PostOp post, const Tensor& y, const Tensor& operand) {
  switch (post) {
    case PostOp::bias:
    case PostOp::add:
      return y + operand;
    case PostOp::mask:
      return ops::where(ops::greater(operand, 0), y, 0);
    case PostOp::relu:
      return ops::relu(y);
    case PostOp::sigmoid:
      return ops::sigmoid(y);
    case PostOp::tanh:
      return ops::tanh(y);
    case PostOp::moments:
      break;
  }
  return y;
}

bool reads_array(PostOp post) { return post == PostOp::add || post == PostOp::mask; }

size_t count_inputs(const std::vector<PostOp>& post) {
  return static_cast<size_t>(std::count_if(post.begin(), post.end(), reads_input));
}

DType result_dtype(Mixed mixed) {
  return mixed == Mixed::to_float32 ? DType::float32 : DType::bfloat16;
}

}  // namespace

const char* name_of(PostOp post) {
  constexpr const char* kNames[] = {"bias", "add", "mask", "relu", "sigmoid", "tanh", "moments"};
  return kNames[static_cast<size_t>(post)];
}

size_t WithPostOps::operands(size_t inputs) const { return inputs - count_inputs(post); }

TensorSpecs WithPostOps::infer(std::span<const TensorSpec> in) const {
  const size_t count = operands(in.size());
  TensorSpecs base_specs(in.begin(), in.begin() + static_cast<ptrdiff_t>(count));
  for (TensorSpec& spec : base_specs) {
    if (mixed == Mixed::no) break;
    if (spec.dtype != DType::float32 && spec.dtype != DType::bfloat16)
      fail(text(), ": expected float32 or bfloat16, got ", spec.dtype);
    spec.dtype = DType::bfloat16;
  }
  TensorSpecs results = op->infer(base_specs);
  const Shape shape = results[0].shape;
  if (mixed != Mixed::no) results[0].dtype = result_dtype(mixed);
  size_t next_input = count;
  for (PostOp post_op : post) {
    if (post_op == PostOp::moments) {
      for (const TensorSpec& channels : BatchMoments().infer({results.data(), 1}))
        results.push_back(channels);
    } else if (reads_input(post_op)) {
      const Shape wanted_shape = post_op == PostOp::bias ? Shape{shape[-1]} : shape;
      if (!in[next_input].shape.compatible(wanted_shape))
        fail(text(), ": expected shape ", wanted_shape, " for ", name_of(post_op), ", got ",
             in[next_input].shape);
      ++next_input;
    }
  }
  return results;
}

/// Splits off a part that the device may not support, so that lowering can try the remaining op.
/// In mixed precision this part is the casts of operands and result; else the moments, if there are
/// any; else the first add or mask with all post-ops after it; else all post-ops.
Tensors WithPostOps::decompose(std::span<const Tensor> inputs) const {
  auto simpler_op = std::make_shared<WithPostOps>(*this);
  if (mixed != Mixed::no) {
    simpler_op->mixed = Mixed::no;
    Tensors operands(inputs.begin(), inputs.end());
    for (Tensor& t : operands) t = ops::cast(t, DType::bfloat16);
    Tensors results = crescent::apply(std::move(simpler_op), operands);
    results[0] = ops::cast(results[0], result_dtype(mixed));
    return results;
  }
  auto first_removed = std::find(post.begin(), post.end(), PostOp::moments);
  const bool has_moments = first_removed != post.end();
  if (!has_moments) first_removed = std::find_if(post.begin(), post.end(), reads_array);
  if (first_removed == post.end()) first_removed = post.begin();
  simpler_op->post.assign(post.begin(), first_removed);

  size_t next_input = operands(inputs.size()) + count_inputs(simpler_op->post);
  const OpPtr remaining_op = simpler_op->post.empty() ? op : OpPtr(std::move(simpler_op));
  Tensor y = crescent::apply(remaining_op, inputs.first(next_input)).front();
  for (; first_removed != post.end(); ++first_removed)
    y = apply_post_op(*first_removed, y,
                      reads_input(*first_removed) ? inputs[next_input++] : Tensor());
  if (!has_moments) return {y};
  const Tensors moments = apply(BatchMoments(), {y});
  return {y, moments[0], moments[1]};
}

bool WithPostOps::equals(const Op& other) const {
  auto* other_op = dynamic_cast<const WithPostOps*>(&other);
  return other_op && post == other_op->post && mixed == other_op->mixed &&
         op->equals(*other_op->op);
}

size_t WithPostOps::hash() const {
  size_t hash = op->hash();
  detail::mix(hash, detail::hash_field(post));
  detail::mix(hash, detail::hash_field(mixed));
  return hash;
}

std::string WithPostOps::text() const {
  std::string text = op->text();
  for (PostOp post_op : post) text += concat(" + ", name_of(post_op));
  return mixed == Mixed::no ? text : concat(text, " mixed to ", result_dtype(mixed));
}

std::string WithPostOps::label() const {
  std::string label = op->label();
  for (PostOp post_op : post) label += concat("+", name_of(post_op));
  return label;
}

}  // namespace crescent

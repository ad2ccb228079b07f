// The ops PoolArgmax, PoolArgmaxBackward (its gradient) and ConvPool.
#include "crescent/device/lowered_ops.h"

namespace crescent {

TensorSpecs PoolArgmax::infer(std::span<const TensorSpec> in) const {
  Pool plain_pool;
  plain_pool.window = window, plain_pool.spec = spec;
  const TensorSpec y = plain_pool.infer(in)[0];
  return {y, {DType::uint8, y.shape}};
}

TensorSpecs PoolArgmaxBackward::infer(std::span<const TensorSpec> in) const {
  PoolBackward plain_backward;
  plain_backward.window = window, plain_backward.spec = spec, plain_backward.input = input;
  return plain_backward.infer(in);
}

TensorSpecs ConvPool::infer(std::span<const TensorSpec> in) const {
  return pool->infer(conv->infer(in));
}

Tensors ConvPool::decompose(std::span<const Tensor> inputs) const {
  return crescent::apply(pool, crescent::apply(conv, inputs));
}

bool ConvPool::equals(const Op& other) const {
  auto* other_op = dynamic_cast<const ConvPool*>(&other);
  return other_op && conv->equals(*other_op->conv) && pool->equals(*other_op->pool);
}

size_t ConvPool::hash() const {
  size_t hash = conv->hash();
  detail::mix(hash, pool->hash());
  return hash;
}

std::string ConvPool::text() const { return conv->text() + " + " + pool->text(); }
std::string ConvPool::label() const { return conv->label() + "+" + pool->label(); }

}  // namespace crescent

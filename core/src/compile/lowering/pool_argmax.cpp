// The ops PoolArgmax, PoolArgmaxBackward (its gradient) and ConvPool.
#include "crescent/device/lowered_ops.h"

namespace crescent {

TensorSpecs PoolArgmax::infer(std::span<const TensorSpec> in) const {
  Pool plain;
  plain.window = window, plain.spec = spec;
  const TensorSpec y = plain.infer(in)[0];
  return {y, {DType::uint8, y.shape}};
}

TensorSpecs PoolArgmaxBackward::infer(std::span<const TensorSpec> in) const {
  PoolBackward plain;
  plain.window = window, plain.spec = spec, plain.input = input;
  return plain.infer(in);
}

TensorSpecs ConvPool::infer(std::span<const TensorSpec> in) const {
  return pool->infer(conv->infer(in));
}

Tensors ConvPool::decompose(std::span<const Tensor> inputs) const {
  return crescent::apply(pool, crescent::apply(conv, inputs));
}

bool ConvPool::equals(const Op& other) const {
  auto* same = dynamic_cast<const ConvPool*>(&other);
  return same && conv->equals(*same->conv) && pool->equals(*same->pool);
}

size_t ConvPool::hash() const {
  size_t hash = conv->hash();
  detail::mix(hash, pool->hash());
  return hash;
}

std::string ConvPool::text() const { return conv->text() + " + " + pool->text(); }
std::string ConvPool::label() const { return conv->label() + "+" + pool->label(); }

}  // namespace crescent

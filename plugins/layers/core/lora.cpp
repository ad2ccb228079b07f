#include "lora.h"

namespace crescent {
namespace {

/// One of the two matrices, named as in Keras: dense_1/lora_kernel_a. It has values even while a
/// model is made for a file's weights: Keras 3's files have none of it.
Variable matrix(const Layer& owner, const Variable& weight, const char* which, const Shape& shape,
                const Ref<Initializer>& initializer) {
  const std::string name = concat("lora_", weight.name(), "_", which);
  const Variable made((*initializer)(shape, owner.variable_dtype()),
                      {.name = name, .regularizer = weight.regularizer()});
  made.set_path(owner.name() + "/" + name);
  return made;
}

}  // namespace

LoraAdapter::LoraAdapter(const Layer& owner, const Variable& weight, int64_t rank, double scale,
                         const Ref<Initializer>& a, const Ref<Initializer>& b)
    : scale_(scale) {
  set_name("lora");
  policy_ = owner.policy();
  const Shape& shape = weight.shape();
  a_ = matrix(owner, weight, "a", shape.slice(0, -1).concat({rank}), a);
  b_ = matrix(owner, weight, "b", {rank, shape[-1]}, b);
  for (const Variable& made : {a_, b_}) track(made);
  built_ = true;
}

Tensor LoraAdapter::of(const Tensor& x) const { return ops::dot(ops::dot(x, a_), b_) * scale_; }

Tensor LoraAdapter::of_rows(const Tensor& ids) const {
  return ops::dot(ops::take(a_, ids, 0), b_) * scale_;
}

Tensor LoraAdapter::change() const { return ops::dot(a_, b_) * scale_; }

void LoraLayer::configured() {
  UnaryLayer::configured();
  if (!quantization_.is_null())
    fail(
        "quantization_config: weights of fewer bits are not supported; dtype \"mixed_bfloat16\" "
        "computes with 16");
  if (alpha_ && !rank_) fail("lora_alpha: it scales an adapter; pass lora_rank too");
}

void LoraLayer::build_lora() {
  if (!rank_) return;
  const auto alpha = alpha_;
  enable_lora(*rank_, alpha, "he_uniform", "zeros");
}

void LoraLayer::enable_lora(int64_t rank, std::optional<double> alpha, Ref<Initializer> a,
                            Ref<Initializer> b) {
  if (!adapted()) fail("Cannot enable lora on a layer that isn't yet built.");
  if (adapter_) fail("lora is already enabled. This can only be done once per layer.");
  const std::string weight = adapted().name();
  if (adapted_rules().constraint)
    fail("Lora is incompatible with ", weight, " constraints. In order to enable lora on this ",
         "layer, remove the `", weight, "_constraint` argument.");
  rank_ = rank;
  alpha_ = alpha.value_or(static_cast<double>(rank));
  adapter_ = std::make_shared<LoraAdapter>(*this, adapted(), rank,
                                           *alpha_ / static_cast<double>(rank), a, b);
  adapter_->set_trainable(trainable());
  track(adapter_);
  adapted().set_trainable(false);
  structure_changed();
}

void LoraLayer::merge_lora() {
  if (!adapter_) fail("there is no adapter to merge: lora is not enabled");
  adapted().assign(adapted() + adapter_->change());
  untrack(adapter_);
  adapter_.reset();
  rank_.reset();
  alpha_.reset();
  adapted().set_trainable(true);
  structure_changed();
}

}  // namespace crescent

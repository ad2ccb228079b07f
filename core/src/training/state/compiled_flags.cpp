#include "training/state/compiled_flags.h"

#include <unordered_set>

#include "layer/layer_access.h"

namespace crescent {

void CompiledFlags::record(Model& model) {
  flags_.clear();
  model_trainable_ = LayerAccess::trainable_flag(model);
  record_new_layers(model);
}

void CompiledFlags::record_new_layers(Model& model) {
  std::erase_if(flags_, [](const Flag& flag) { return flag.owner.expired(); });
  std::unordered_set<const Layer*> known_layers{&model};
  for (const Flag& flag : flags_) known_layers.insert(flag.layer);
  for (Layer* layer : model.flatten_layers())
    if (known_layers.insert(layer).second)
      flags_.push_back({layer->weak_from_this(), layer, LayerAccess::trainable_flag(*layer)});
}

CompiledFlagsScope::CompiledFlagsScope(Model& model, const CompiledFlags& flags,
                                       const Variables& trained_variables) {
  set_flag(model, flags.model_trainable_);
  for (const CompiledFlags::Flag& flag : flags.flags_) {
    const std::shared_ptr<Object> owner = flag.owner.lock();
    if (!owner || LayerAccess::trainable_flag(*flag.layer) == flag.trainable) continue;
    layer_owners_.push_back(owner);
    set_flag(*flag.layer, flag.trainable);
  }
  for (const Variable& v : trained_variables)
    if (!v.trainable()) variables_.push_back(v);
  for (const Variable& v : variables_) v.set_trainable(true);
}

CompiledFlagsScope::~CompiledFlagsScope() {
  for (const auto& [layer, trainable] : layers_) LayerAccess::set_trainable_flag(*layer, trainable);
  for (const Variable& v : variables_) v.set_trainable(false);
}

void CompiledFlagsScope::set_flag(Layer& layer, bool trainable) {
  layers_.emplace_back(&layer, LayerAccess::trainable_flag(layer));
  LayerAccess::set_trainable_flag(layer, trainable);
}

int64_t trainable_key(Model& model) {
  uint64_t key = 14695981039346656037u;  // the offset basis of the FNV-1a hash
  for (Layer* layer : model.flatten_layers())
    key = (key ^ (layer->trainable() ? 1 : 2)) * 1099511628211u;
  return static_cast<int64_t>(key);
}

}  // namespace crescent

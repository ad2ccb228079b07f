// The flags `trainable` of layers at the time of compile, which later steps keep using. If a
// discriminator is frozen after its compile, because another model contains it, its own steps still
// train it.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

class CompiledFlags {
 public:
  /// Records the current flags of the model and of all layers in it.
  void record(Model& model);
  /// Records the flags of layers that were added after record().
  void record_new_layers(Model& model);

 private:
  friend class CompiledFlagsScope;
  struct Flag {
    std::weak_ptr<Object> owner;
    Layer* layer;
    bool trainable;
  };
  bool model_trainable_ = true;  ///< the flag of the model itself
  std::vector<Flag> flags_;
};

/// While an object of this class lives, the layers have their recorded values of `trainable`, and
/// so do the given variables.
class CompiledFlagsScope {
 public:
  CompiledFlagsScope(Model& model, const CompiledFlags& flags, const Variables& trained);
  ~CompiledFlagsScope();
  CompiledFlagsScope(const CompiledFlagsScope&) = delete;

 private:
  void set(Layer& layer, bool trainable);

  // layers whose flag was changed, with the flag before
  std::vector<std::pair<Layer*, bool>> layers_;
  std::vector<std::shared_ptr<Object>> layer_owners_;  // keep the layers alive
  Variables variables_;
};

/// Returns a hash of which layers of the model are trainable.
int64_t trainable_key(Model& model);

}  // namespace crescent

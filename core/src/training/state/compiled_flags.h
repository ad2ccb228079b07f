// The flags `trainable` that the layers had when compile was called. Steps of the model use these
// flags even if the layers are changed later. In a GAN, for example, the discriminator is compiled
// and then frozen; its own steps still train it.
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
/// `trained_variables` are trainable.
class CompiledFlagsScope {
 public:
  CompiledFlagsScope(Model& model, const CompiledFlags& flags, const Variables& trained_variables);
  ~CompiledFlagsScope();
  CompiledFlagsScope(const CompiledFlagsScope&) = delete;

 private:
  void set_flag(Layer& layer, bool trainable);

  /// The layers whose flag was changed, each with its old flag.
  std::vector<std::pair<Layer*, bool>> layers_;
  std::vector<std::shared_ptr<Object>> layer_owners_;  // keep the layers alive
  Variables variables_;
};

/// Returns a hash of which layers of the model are trainable.
int64_t trainable_key(Model& model);

}  // namespace crescent

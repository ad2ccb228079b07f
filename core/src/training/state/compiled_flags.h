// The flags trainable at the time of compile, which later steps keep using. A discriminator that is
// frozen afterwards, for the model that contains it, is thus still trained by its own steps.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

class CompiledFlags {
 public:
  /// Records the current flags of the model and all layers below.
  void take(Model& model);
  /// Records the flags of layers that were added since.
  void take_new(Model& model);

 private:
  friend class AsCompiled;
  struct Flag {
    std::weak_ptr<Object> alive;
    Layer* layer;
    bool trainable;
  };
  bool own_ = true;  ///< the flag of the model itself
  std::vector<Flag> flags_;
};

/// While an object of this class lives, layers and the given variables have the recorded values of
/// trainable.
class AsCompiled {
 public:
  AsCompiled(Model& model, const CompiledFlags& flags, const Variables& trained);
  ~AsCompiled();
  AsCompiled(const AsCompiled&) = delete;

 private:
  void set(Layer& layer, bool trainable);

  std::vector<std::pair<Layer*, bool>> layers_;  // layers whose flag was changed, with the old flag
  std::vector<std::shared_ptr<Object>> kept_;    // keeps the layers alive
  Variables variables_;
};

/// A hash that distinguishes sets of trainable layers.
int64_t trainable_key(Model& model);

}  // namespace crescent

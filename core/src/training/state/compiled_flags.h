// What was trainable when a model was compiled. It goes on training that: a discriminator that is
// frozen afterwards, for the model above it, still learns in its own steps.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

class CompiledFlags {
 public:
  /// Of the model and all layers below, as they are now.
  void take(Model& model);
  /// Of layers that have come since.
  void take_new(Model& model);

 private:
  friend class AsCompiled;
  struct Flag {
    std::weak_ptr<Object> alive;
    Layer* layer;
    bool trainable;
  };
  bool own_ = true;  ///< the model's
  std::vector<Flag> flags_;
};

/// While alive, layers and the given variables are trainable as they were then.
class AsCompiled {
 public:
  AsCompiled(Model& model, const CompiledFlags& flags, const Variables& trained);
  ~AsCompiled();
  AsCompiled(const AsCompiled&) = delete;

 private:
  void set(Layer& layer, bool trainable);

  std::vector<std::pair<Layer*, bool>> layers_;  // that were changed, and what they were
  std::vector<std::shared_ptr<Object>> kept_;    // alive meanwhile
  Variables variables_;
};

/// Tells sets of trainable layers apart.
int64_t trainable_key(Model& model);

}  // namespace crescent

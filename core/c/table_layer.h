// Layers whose classes come from a C table.
#pragma once
#include "crescent/layer/layer.h"
#include "plugin_table.h"

namespace crescent::c {

class TableLayer final : public Layer {
 public:
  explicit TableLayer(const crescent_layer_class& layer_class);
  ~TableLayer() override;
  void configured() override;
  InputCount input_count() const override;
  void build(const std::vector<Shape>& inputs) override;
  Tensors call(const Tensors& inputs, const Call& call) override;

  /// Whether the plugin's build callback is running; only then may the plugin add weights.
  bool is_building() const { return is_building_; }

  Dict options;
  /// Weights in the order in which build added them.
  Variables added_weights;

 private:
  /// While an object of this class lives, is_building() is true for the layer.
  class BuildScope {
   public:
    explicit BuildScope(TableLayer& layer);
    ~BuildScope();
    BuildScope(const BuildScope&) = delete;

   private:
    TableLayer& layer_;
  };

  void destroy();

  const crescent_layer_class& class_;
  void* state_ = nullptr;
  uintptr_t handle_ = 0;
  bool is_building_ = false;
};

/// Returns the layer of a handle that was passed to a callback.
TableLayer& layer_of(const crescent_layer* layer);

}  // namespace crescent::c

// Layers around another layer.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

/// Keeps the layer inside: its option, its place in files, its weights.
class BaseWrapper : public Layer {
 public:
  void configured() override;
  void build(const std::vector<Shape>& inputs) override { layer_->build_for(inputs); }
  Dict get_config() const override;

 protected:
  template <class T>
  static void describe_layer(Schema<T>& s) {
    s.field("layer", &BaseWrapper::given_, "The layer inside.")
        .kind("layer")
        .required()
        .property("layer", &BaseWrapper::layer_, "The layer inside.");
  }
  /// What is inside instead of the layer as it was given.
  void set_layer(LayerPtr layer);
  const LayerPtr& layer() const { return layer_; }

 private:
  Value given_;
  LayerPtr layer_;
};

/// The layer that an option is; fails in Keras' words for anything else.
LayerPtr layer_from(const std::string& wrapper, const Value& value);

}  // namespace crescent

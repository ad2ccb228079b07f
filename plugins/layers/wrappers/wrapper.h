// Layers that wrap another layer.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

/// The base of wrappers: owns the wrapped layer, and declares the option for it, its path in files
/// and its weights.
class BaseWrapper : public Layer {
 public:
  void configured() override;
  void build(const std::vector<Shape>& inputs) override { layer_->build_for(inputs); }
  Dict get_config() const override;

 protected:
  template <class T>
  static void describe_layer(Schema<T>& s) {
    s.field("layer", &BaseWrapper::layer_option_, "The wrapped layer.")
        .kind("layer")
        .required()
        .property("layer", &BaseWrapper::layer_, "The wrapped layer.");
  }
  /// Replaces the wrapped layer.
  void set_layer(LayerPtr layer);
  const LayerPtr& layer() const { return layer_; }

 private:
  Value layer_option_;
  LayerPtr layer_;
};

/// The layer that an option of the class `wrapper` contains; fails, with the message of Keras, for
/// other values.
LayerPtr layer_from(const std::string& wrapper, const Value& value);

}  // namespace crescent

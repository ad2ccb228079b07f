// LayerActivation: a layer used as an activation of another one: Dense(8,
// activation=LeakyReLU(0.1)).
#include "crescent/layer/layer.h"
#include "registry/core_classes.h"

namespace crescent {
namespace {

/// Returns the kind of state that the layer has, such as "weights"; null if the layer is a pure
/// function. A layer with such state cannot be an activation, because nothing would own the state.
const char* kind_of_state(Layer& layer) {
  if (!layer.weights().empty()) return "weights";
  if (!layer.losses().empty()) return "losses";
  for (const Layer* nested_layer : layer.flatten_layers()) {
    if (!nested_layer->metrics().empty()) return "metrics";
    if (!nested_layer->states().empty()) return "states";
    if (!nested_layer->seed_generators().empty()) return "random numbers";
  }
  return nullptr;
}

/// An activation that calls a layer. Its class name and its configuration are those of the layer.
class LayerActivation final : public Activation {
 public:
  explicit LayerActivation(LayerPtr layer) : layer_(std::move(layer)) {}
  Tensor operator()(const Tensor& x) const override {
    if (!layer_->built()) layer_->build_for({x.shape()});
    refuse_state();
    const Tensor y = (*layer_)(x);
    refuse_state();  // checked again, because a layer adds losses only during its call
    return y;
  }
  std::string class_name() const override { return layer_->class_name(); }
  Dict get_config() const override { return layer_->get_config(); }

 private:
  void refuse_state() const {
    if (const char* state_kind = kind_of_state(*layer_))
      fail("activation: a ", layer_->class_name(), " has ", state_kind,
           " and cannot be the activation of another layer; put it behind that layer");
  }

  LayerPtr layer_;
};

}  // namespace

std::shared_ptr<Configurable> layer_as_activation(const std::shared_ptr<Configurable>& object) {
  auto layer = std::dynamic_pointer_cast<Layer>(object);
  return layer ? std::make_shared<LayerActivation>(std::move(layer)) : nullptr;
}

}  // namespace crescent

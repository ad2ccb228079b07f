#include "layer/input_layer.h"

#include "layer/layer_access.h"

namespace crescent {

InputLayer::InputLayer() {
  trainable_ = false;
  built_ = true;
  autocast_ = false;
}

void InputLayer::describe(Schema<InputLayer>& s) {
  s.doc("Where a graph begins; Input() makes one.")
      .field("sparse", &InputLayer::sparse_, "Accepted for Keras' files; always dense.")
      .field("shape", &InputLayer::input_shape_option_,
             "Shape of the input without the batch axis.")
      .not_stored();
}

void InputLayer::configured() {
  if (batch_input_shape_ && input_shape_option_)
    fail(
        "Only provide the input_shape OR batch_input_shape argument to InputLayer, not both at the "
        "same time.");
  if (!declared_input_shape())
    fail("An Input layer should be passed either a `batch_input_shape` or an `input_shape`.");
  if (sparse_) fail("sparse inputs are not supported");
  if (name_.empty()) name_ = unique_name("input");
  Layer::configured();
}

Dict InputLayer::get_config() const {
  return {{"batch_input_shape", Codec<Shape>::encode(*declared_input_shape())},
          {"dtype", policy_.name},
          {"sparse", false},
          {"name", name_}};
}

Symbol InputLayer::symbol() const {
  const std::vector<NodePtr> nodes = inbound_nodes();
  if (!nodes.empty()) return Symbol(nodes.front(), 0);
  const auto node = LayerAccess::make_node();
  node->outbound_layer =
      std::static_pointer_cast<Layer>(const_cast<InputLayer*>(this)->shared_from_this());
  node->outputs = {Tensor::abstract({dtype(), *declared_input_shape()})};
  LayerAccess::add_node(node);
  return Symbol(node, 0);
}

Symbol Input(const InputOptions& options) {
  if (!options.shape && !options.batch_shape)
    fail(
        "Please provide to Input either a `shape` or a `batch_shape` argument. Note that `shape` "
        "does not include the batch "
        "dimension.");
  Dict config{{"dtype", name_of(options.dtype)}};
  if (!options.name.empty()) config.set("name", options.name);
  const Shape shape = options.batch_shape
                          ? *options.batch_shape
                          : Shape{options.batch_size.value_or(-1)}.concat(*options.shape);
  config.set("batch_input_shape", Codec<Shape>::encode(shape));
  return std::dynamic_pointer_cast<InputLayer>(make<Layer>("InputLayer", config))->symbol();
}

}  // namespace crescent

#include "layer/input_layer.h"

#include "layer/layer_access.h"

namespace crescent {

InputLayer::InputLayer() {
  trainable_ = false;
  built_ = true;
  autocast_ = false;
}

void InputLayer::describe(Schema<InputLayer>& s) {
  s.doc("The entry of a graph; Input() creates it.")
      .field("shape", &InputLayer::input_shape_option_,
             "Shape of the input, excluding the batch axis.")
      .not_stored()
      .field("batch_size", &InputLayer::batch_size_, "Fixed batch size, together with shape.")
      .not_stored()
      .field("dtype", &InputLayer::policy_, "Dtype of the input.")
      .field("sparse", &InputLayer::sparse_, "Refused if true: tensors are dense.")
      .field("ragged", &InputLayer::ragged_, "Refused if true: tensors are dense.")
      .not_stored()
      .field("batch_shape", &InputLayer::batch_input_shape_,
             "Shape of the input, including the batch axis.")
      .not_stored()
      .field("input_tensor", &InputLayer::input_tensor_,
             "Refused: the inputs of a model may be any symbols.")
      .not_stored()
      .field("optional", &InputLayer::optional_, "Allow calls of the model without this input.")
      .field("name", &InputLayer::name_,
             "Name of the layer, unique in a model; by default numbered.");
}

void InputLayer::configured() {
  if (batch_input_shape_ && input_shape_option_)
    fail(
        "Only provide the input_shape OR batch_input_shape argument to InputLayer, not both at the "
        "same time.");
  if (!declared_input_shape())
    fail("An Input layer should be passed either a `batch_input_shape` or an `input_shape`.");
  for (const auto& [option, on] : {std::pair{"sparse", sparse_}, std::pair{"ragged", ragged_}})
    if (on.value_or(false)) fail(option, " inputs are not supported: tensors are dense");
  if (!input_tensor_.is_null())
    fail("input_tensor is not supported: a symbol is an input of a model by itself");
  if (activity_regularizer_)
    fail(
        "activity_regularizer is not supported: what enters a model is the same whatever it costs");
  if (name_.empty()) name_ = unique_name("input");
  Layer::configured();
}

Dict InputLayer::get_config() const {
  Dict config{{"batch_input_shape", Codec<Shape>::encode(*declared_input_shape())},
              {"dtype", policy_.name},
              {"sparse", false},
              {"name", name_}};
  if (optional_) config.set("optional", true);
  return config;
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

Symbol Input(const Shape& shape, std::string name) {
  InputOptions options;
  options.shape = shape;
  options.name = std::move(name);
  return Input(options);
}

Symbol Input(const InputOptions& options) {
  if (!options.shape && !options.batch_shape)
    fail(
        "Please provide to Input either a `shape` or a `batch_shape` argument. Note that `shape` "
        "does not include the batch "
        "dimension.");
  if (options.batch_shape && (options.shape || options.batch_size))
    fail("You cannot pass both `", options.shape ? "shape" : "batch_size",
         "` and `batch_shape` at the same time.");
  Dict config{{"dtype", name_of(options.dtype)}};
  if (!options.name.empty()) config.set("name", options.name);
  if (options.optional) config.set("optional", true);
  const Shape shape = options.batch_shape
                          ? *options.batch_shape
                          : Shape{options.batch_size.value_or(-1)}.concat(*options.shape);
  config.set("batch_input_shape", Codec<Shape>::encode(shape));
  return std::dynamic_pointer_cast<InputLayer>(make<Layer>("InputLayer", config))->symbol();
}

}  // namespace crescent

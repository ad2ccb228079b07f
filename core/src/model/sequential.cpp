#include <algorithm>

#include "layer/input_layer.h"
#include "layer/layer_access.h"
#include "model/graph.h"

namespace crescent {
namespace {

/// The shape, with batch axis, that a first layer asks for: declared, or a nested model's own.
std::optional<Shape> wanted_shape(const LayerPtr& layer) {
  if (auto shape = layer->declared_input_shape()) return shape;
  const auto* model = dynamic_cast<const Model*>(layer.get());
  if (!model) return std::nullopt;
  if (model->is_graph()) return model->inputs().front().shape();
  return model->layers().empty() ? std::nullopt : wanted_shape(model->layers().front());
}

DType wanted_dtype(const LayerPtr& layer) {
  const auto* model = dynamic_cast<const Model*>(layer.get());
  if (model && model->is_graph()) return model->inputs().front().dtype();
  return is_floating(layer->compute_dtype()) ? DType::float32 : layer->compute_dtype();
}

Symbol input_for(const LayerPtr& first, const Shape& shape) {
  InputOptions options;
  options.batch_shape = shape;
  options.name = first->name() + "_input";
  options.dtype = wanted_dtype(first);
  return Input(options);
}

Symbol call_single(const LayerPtr& layer, const Symbol& input) {
  std::vector<Symbol> outputs = (*layer)(std::vector<Symbol>{input});
  if (outputs.size() != 1)
    fail("All layers in a Sequential model should have a single output tensor. For multi-output layers, use the functional API.");
  return outputs.front();
}

}  // namespace

Sequential::~Sequential() = default;

std::shared_ptr<Sequential> Sequential::make(const std::vector<LayerPtr>& layers, std::string name) {
  auto model = std::make_shared<Sequential>();
  model->set_name(name.empty() ? unique_name("sequential") : std::move(name));
  for (const LayerPtr& layer : layers) model->add(layer);
  return model;
}

void Sequential::add(const LayerPtr& layer) {
  if (!layer) fail("The added layer must be an instance of class Layer. Found: none");
  LayerAccess::ensure_name(*layer);
  LayerAccess::refuse_cycle(*this, *layer);
  if (std::dynamic_pointer_cast<InputLayer>(layer)) {
    if (!stack_.empty() || input_layer_)
      fail_in_layer(name(), "Sequential ", name(), ": an InputLayer can only come first");
    input_layer_ = layer;
    return;
  }
  for (const LayerPtr& known : stack_)
    if (known != layer && known->name() == layer->name())
      fail("The name \"", layer->name(), "\" is used 2 times in the model. All layer names should be unique.");
  const bool first = stack_.empty();
  if (built_graph_) {
    const Symbol output = call_single(layer, outputs().front());
    set_graph(inputs(), {output});
  } else if (first && (input_layer_ || wanted_shape(layer))) {
    const Symbol input = input_layer_ ? static_cast<InputLayer&>(*input_layer_).symbol() : input_for(layer, *wanted_shape(layer));
    set_graph({input}, {call_single(layer, input)});
    built_graph_ = true;
  } else {
    track(layer);
  }
  stack_.push_back(layer);
}

void Sequential::pop() {
  if (stack_.empty()) fail("There are no layers in the model.");
  stack_.pop_back();
  if (built_graph_) return rebuild();
  LayerAccess::replace_sublayers(*this, stack_);
}

void Sequential::rebuild() {
  const Symbol input = inputs().front();
  if (stack_.empty()) {
    built_graph_ = built_ = false;
    LayerAccess::replace_sublayers(*this, {});
    return forget_programs();
  }
  Symbol output = input;
  for (const LayerPtr& layer : stack_) output = call_single(layer, output);
  set_graph({input}, {output});
}

void Sequential::build(const std::vector<Shape>& inputs) {
  if (built_graph_) return;
  if (stack_.empty())
    fail_in_layer(name(), "Sequential ", name(), ": There are no layers in the model.");
  if (inputs.size() != 1)
    fail_in_layer(name(), "Sequential ", name(), " takes one input, got ", inputs.size());
  Shape shape = inputs.front();
  if (shape.rank() == 0)
    fail_in_layer(name(), "Sequential ", name(),
                  ": expected an input with a batch axis, got shape ", shape);
  shape.set(0, -1);
  const Symbol input = input_for(stack_.front(), shape);
  Symbol output = input;
  for (const LayerPtr& layer : stack_) output = call_single(layer, output);
  set_graph({input}, {output});
  built_graph_ = true;
}

Tensors Sequential::call(const Tensors& inputs, const Call& call) { return Functional::call(inputs, call); }

std::vector<LayerPtr> Sequential::layers() const { return stack_; }

Dict Sequential::get_config() const {
  List layers;
  auto append = [&](const LayerPtr& layer) {
    layers.push_back(Dict{{"class_name", layer->class_name()}, {"config", layer->get_config()}});
  };
  if (input_layer_) append(input_layer_);
  for (const LayerPtr& layer : stack_) append(layer);
  Dict config{{"name", name()}, {"layers", layers}};
  const bool deferred = built_graph_ && !input_layer_ && !wanted_shape(stack_.front());
  if (deferred) config.set("build_input_shape", Codec<Shape>::encode(inputs().front().shape()));
  return config;
}

}  // namespace crescent

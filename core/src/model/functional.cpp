#include <algorithm>

#include "layer/layer_access.h"
#include "model/graph.h"

namespace crescent {
namespace {

/// Names as they are, repeated ones numbered: a, a_1.
std::vector<std::string> distinct(const std::vector<Symbol>& symbols) {
  std::vector<std::string> names;
  for (const Symbol& s : symbols) {
    std::string name = s.layer()->name();
    for (int i = 1; std::find(names.begin(), names.end(), name) != names.end(); ++i) name = concat(s.layer()->name(), "_", i);
    names.push_back(name);
  }
  return names;
}

/// A tensor as the graph's input wants it: an axis of 1 at the end more or less is forgiven, the dtype is converted.
Tensor fit_input(const Tensor& given, const Symbol& wanted, size_t index, const std::string& model) {
  Tensor t = given;
  const int rank = wanted.shape().rank();
  if (t.rank() == rank + 1 && t.dim(-1) == 1) t = ops::squeeze(t, t.rank() - 1);
  else if (t.rank() == rank - 1 && rank > 1 && wanted.shape()[-1] == 1) t = ops::expand_dims(t, -1);
  if (!t.shape().compatible(wanted.shape()))
    fail("Input ", index, " is incompatible with layer ", model, ": expected shape=", wanted.shape(), ", found shape=", given.shape());
  t = ops::cast(t, wanted.dtype());
  return given.mask() && t.rank() == given.rank() ? t.with_mask(given.mask()) : t;
}

/// Arguments that JSON can hold; others are left out, as Keras does.
Dict storable(const Node& node) {
  Dict arguments;
  if (node.training) arguments.set("training", *node.training);
  for (const DictEntry& argument : node.arguments) {
    try {
      to_json(argument.value);
      arguments.set(argument.key, argument.value);
    } catch (const Error&) {
      warn("Layer ", node.outbound_layer->name(), " was passed the argument '", argument.key,
           "' that cannot be stored; it will be missing when the model is loaded.");
    }
  }
  return arguments;
}

/// Calls of each layer that belong to this graph, numbered from 0.
class KeptNodes {
 public:
  explicit KeptNodes(const ModelAccess::Graph& graph) {
    for (const auto& call : graph.calls) nodes_.push_back(call.node);
    std::stable_sort(nodes_.begin(), nodes_.end(), [](const NodePtr& a, const NodePtr& b) {
      return a->outbound_layer == b->outbound_layer && a->index < b->index;
    });
  }
  std::vector<NodePtr> of(const LayerPtr& layer) const {
    std::vector<NodePtr> found;
    for (const NodePtr& node : nodes_)
      if (node->outbound_layer == layer) found.push_back(node);
    std::sort(found.begin(), found.end(), [](const NodePtr& a, const NodePtr& b) { return a->index < b->index; });
    return found;
  }
  List reference(const Symbol& s) const {
    const std::vector<NodePtr> nodes = of(s.layer());
    const auto place = std::find(nodes.begin(), nodes.end(), s.node());
    const int64_t index = place == nodes.end() ? 0 : place - nodes.begin();
    return {s.layer()->name(), index, s.tensor_index()};
  }

 private:
  std::vector<NodePtr> nodes_;
};

List references(const KeptNodes& kept, const std::vector<Symbol>& symbols) {
  List list;
  for (const Symbol& s : symbols) list.push_back(kept.reference(s));
  return list;
}

Value node_config(const KeptNodes& kept, const Node& node) {
  List entries;
  const Dict arguments = storable(node);
  for (const Symbol& s : node.inputs) {
    List entry = kept.reference(s);
    entry.push_back(arguments);
    entries.push_back(std::move(entry));
  }
  return entries;
}

Value layer_config(const KeptNodes& kept, const LayerPtr& layer) {
  List nodes;
  for (const NodePtr& node : kept.of(layer)) nodes.push_back(node_config(kept, *node));
  return Dict{{"name", layer->name()}, {"class_name", layer->class_name()}, {"config", layer->get_config()}, {"inbound_nodes", nodes}};
}

}  // namespace

Functional::~Functional() = default;

std::shared_ptr<Functional> Functional::make(std::vector<Symbol> inputs, std::vector<Symbol> outputs, std::string name,
                                             bool trainable) {
  auto model = std::make_shared<Functional>();
  model->set_graph(std::move(inputs), std::move(outputs));
  model->set_name(name.empty() ? unique_name("model") : std::move(name));
  model->trainable_ = trainable;
  return model;
}

void Functional::set_graph(std::vector<Symbol> inputs, std::vector<Symbol> outputs) {
  graph_ = ModelAccess::make_graph(std::move(inputs), std::move(outputs));
  LayerAccess::replace_sublayers(*this, graph_->layers);
  built_ = true;
  forget_programs();
}

void Functional::build(const std::vector<Shape>&) {
  if (!graph_) fail("a functional model is made of its inputs and outputs");
}

Tensors Functional::call(const Tensors& inputs, const Call& call) {
  const Graph& graph = *graph_;
  if (inputs.size() != graph.inputs.size())
    fail("Layer ", name(), " expects ", graph.inputs.size(), " inputs, but it received ", inputs.size(), " input tensors");
  Tensors slots(static_cast<size_t>(graph.slots));
  for (size_t i = 0; i < inputs.size(); ++i)
    slots[static_cast<size_t>(graph.input_slots[i])] = fit_input(inputs[i], graph.inputs[i], i, name());
  for (const Graph::Call& each : graph.calls) {
    Tensors arguments;
    for (int slot : each.inputs) arguments.push_back(slots[static_cast<size_t>(slot)]);
    CallOptions options;
    options.training = each.node->training.value_or(call.training);
    options.arguments = each.node->arguments;
    const Tensors results = (*each.node->outbound_layer)(arguments, options);
    if (results.size() != each.outputs.size())
      fail("Layer ", each.node->outbound_layer->name(), " gave ", results.size(),
           " outputs where it gave ", each.outputs.size(), " when the model was made");
    for (size_t i = 0; i < results.size(); ++i) slots[static_cast<size_t>(each.outputs[i])] = results[i];
  }
  Tensors outputs;
  for (int slot : graph.output_slots) outputs.push_back(slots[static_cast<size_t>(slot)]);
  return outputs;
}

Tensors Functional::compute_mask(const Tensors&, const Tensors&, const Tensors& outputs) {
  Tensors masks;
  for (const Tensor& t : outputs) masks.push_back(t.mask());
  return masks;
}

std::vector<LayerPtr> Functional::layers() const { return graph_ ? graph_->layers : std::vector<LayerPtr>{}; }

std::vector<Symbol> Functional::inputs() const {
  if (!graph_) fail("Model ", name(), " has not been built yet and has no inputs");
  return graph_->inputs;
}
std::vector<Symbol> Functional::outputs() const {
  if (!graph_) fail("Model ", name(), " has not been built yet and has no outputs");
  return graph_->outputs;
}
std::vector<std::string> Functional::input_names() const { return graph_ ? distinct(inputs()) : Model::input_names(); }
std::vector<std::string> Functional::output_names() const { return graph_ ? distinct(outputs()) : Model::output_names(); }

Dict Functional::get_config() const {
  if (!graph_) fail("Model ", name(), " has not been built yet and has no configuration");
  const KeptNodes kept(*graph_);
  List layers;
  for (const LayerPtr& layer : graph_->layers) layers.push_back(layer_config(kept, layer));
  return {{"name", name()},
          {"trainable", trainable_},
          {"layers", layers},
          {"input_layers", references(kept, graph_->inputs)},
          {"output_layers", references(kept, graph_->outputs)}};
}

}  // namespace crescent

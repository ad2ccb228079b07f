#include <algorithm>
#include <map>
#include <unordered_map>

#include "crescent/base/mapped.h"
#include "layer/batch_axis.h"
#include "layer/calls/call_arguments.h"
#include "layer/input_layer.h"
#include "layer/layer_access.h"
#include "model/constants.h"
#include "model/graph.h"
#include "registry/shared_objects.h"

namespace crescent {
namespace {

/// The names of the symbols; equal names get different numbers: a, a_1.
std::vector<std::string> distinct_names(const std::vector<Symbol>& symbols) {
  std::vector<std::string> names;
  for (const Symbol& s : symbols) {
    std::string name = s.layer()->name();
    for (int i = 1; std::find(names.begin(), names.end(), name) != names.end(); ++i)
      name = concat(s.layer()->name(), "_", i);
    names.push_back(name);
  }
  return names;
}

std::string shapes_text(const Tensors& tensors) {
  std::vector<std::string> texts;
  for (const Tensor& t : tensors) texts.push_back(to_text(t.shape()));
  return join(texts);
}

/// Fails when a layer has changed since the graph was made, so that its results no longer have the
/// number and the shapes that `node` has recorded.
void check_results(const Tensors& results, const Node& node, const std::string& model) {
  bool fits = results.size() == node.outputs.size();
  for (size_t i = 0; fits && i < results.size(); ++i)
    fits = results[i].shape().compatible(node.outputs[i].shape());
  if (!fits)
    fail_in_layer(model, "Layer ", node.outbound_layer->name(), " has changed since model ", model,
                  " was made with it: it gives ", shapes_text(results),
                  " where the model goes on from ", shapes_text(node.outputs),
                  "; make the model anew");
}

void check_structure(const Value& structure, const std::vector<Symbol>& symbols, const char* role) {
  if (!structure.is_null() && tensor_count(structure) != symbols.size())
    fail("expected ", tensor_count(structure), " ", role, ", ", structure_text(structure), ", got ",
         symbols.size());
}

bool is_optional(const Symbol& input) {
  const auto* layer = dynamic_cast<const InputLayer*>(input.layer().get());
  return layer && layer->optional();
}

/// Returns a tensor for each input of the model, with empty Tensors for optional inputs that the
/// call omits.
Tensors with_omitted_inputs(const Tensors& tensors, const Value& structure,
                            const std::vector<Symbol>& inputs, const std::string& model) {
  const List leaves = structure.is_null() ? List(tensors.size(), true) : leaves_of(structure);
  if (leaves.size() != inputs.size())
    fail_in_layer(model, "Layer ", model, " expects ", inputs.size(), " inputs, but it received ",
                  leaves.size(), " input tensors");
  Tensors result;
  size_t next_input = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (leaves[i].is_null() && !is_optional(inputs[i]))
      fail_in_layer(model, "The input '", inputs[i].layer()->name(),
                    "' is not optional, but None was passed. Please provide a valid tensor.");
    result.push_back(leaves[i].is_null() ? Tensor() : tensors.at(next_input++));
  }
  return result;
}

/// Gives each call of a layer a number, counted from 0 for each layer. Calls that do not belong to
/// this graph are not counted.
class CallNumbers {
 public:
  explicit CallNumbers(const ModelAccess::Graph& graph) {
    for (const auto& call : graph.calls)
      nodes_[call.node->outbound_layer.get()].push_back(call.node);
    for (auto& [layer, nodes] : nodes_)
      std::sort(nodes.begin(), nodes.end(),
                [](const NodePtr& a, const NodePtr& b) { return a->index() < b->index(); });
  }
  std::vector<NodePtr> nodes_of(const LayerPtr& layer) const {
    const auto entry = nodes_.find(layer.get());
    return entry == nodes_.end() ? std::vector<NodePtr>() : entry->second;
  }
  List reference(const Symbol& s) const {
    const std::vector<NodePtr> nodes = nodes_of(s.layer());
    const auto found_node = std::find(nodes.begin(), nodes.end(), s.node());
    const int64_t index = found_node == nodes.end() ? 0 : found_node - nodes.begin();
    return {s.layer()->name(), index, s.tensor_index()};
  }

 private:
  std::unordered_map<const Layer*, std::vector<NodePtr>> nodes_;
};

List references(const CallNumbers& call_numbers, const std::vector<Symbol>& symbols) {
  List list;
  for (const Symbol& s : symbols) list.push_back(call_numbers.reference(s));
  return list;
}

/// A reference to a symbol, in the form in which Keras 3 writes it into the arguments of a call.
Value tensor_reference(List history) {
  return Dict{{"class_name", "__keras_tensor__"},
              {"config", Dict{{"keras_history", std::move(history)}}}};
}

/// The arguments that JSON can represent; others are omitted, as Keras does.
Dict storable_arguments(const CallNumbers& call_numbers, const Node& node) {
  Dict arguments;
  if (node.training) arguments.set("training", *node.training);
  if (!node.structure.is_null()) arguments.set(kInputStructure, node.structure);
  const Dict stored_arguments = replace_symbols(
      node.arguments, [&](const Symbol& s) { return tensor_reference(call_numbers.reference(s)); });
  const auto encode_tensor = [](const Value& value) -> std::optional<Value> {
    if (auto boxed = value.object_as<BoxedTensor>()) return encode_constant(boxed->tensor);
    return std::nullopt;
  };
  for (const DictEntry& argument : stored_arguments) {
    try {
      Value storable_value = mapped(argument.value, encode_tensor);
      to_json(storable_value);
      arguments.set(argument.key, std::move(storable_value));
    } catch (const Error&) {
      warn("Layer ", node.outbound_layer->name(), " was passed the argument '", argument.key,
           "' that cannot be stored; it will be missing when the model is loaded.");
    }
  }
  return arguments;
}

Value node_config(const CallNumbers& call_numbers, const Node& node) {
  List entries;
  const Dict arguments = storable_arguments(call_numbers, node);
  for (size_t i = 0; i + node.argument_inputs < node.inputs.size(); ++i) {
    List entry = call_numbers.reference(node.inputs[i]);
    entry.push_back(arguments);
    entries.push_back(std::move(entry));
  }
  return entries;
}

Value layer_config(const CallNumbers& call_numbers, const LayerPtr& layer) {
  List nodes;
  for (const NodePtr& node : call_numbers.nodes_of(layer))
    nodes.push_back(node_config(call_numbers, *node));
  Dict config{{"name", layer->name()},
              {"class_name", layer->class_name()},
              {"config", layer->get_config()},
              {"inbound_nodes", nodes}};
  mark_shared(config, *layer);
  return config;
}

}  // namespace

Functional::~Functional() = default;

Tensor fit_input(const Tensor& input, const Symbol& graph_input, size_t index,
                 const std::string& model) {
  Tensor t = input;
  const int rank = graph_input.shape().rank();
  if (t.rank() == rank + 1 && t.dim(-1) == 1)
    t = ops::squeeze(t, t.rank() - 1);
  else if (t.rank() == rank - 1 && rank > 1 && graph_input.shape()[-1] == 1)
    t = ops::expand_dims(t, -1);
  // The batch size is not compared, because only stateful layers depend on it, and they check it
  // themselves.
  Shape any_batch_shape = graph_input.shape();
  if (rank > 0) any_batch_shape.set(0, -1);
  if (!t.shape().compatible(any_batch_shape))
    fail_in_layer(model, "Input ", index, " is incompatible with layer ", model,
                  ": expected shape=", graph_input.shape(), ", found shape=", input.shape(),
                  batch_axis_hint(input.shape(), graph_input.shape()));
  t = ops::cast(t, graph_input.dtype());
  return input.mask() && t.rank() == input.rank() ? t.with_mask(input.mask()) : t;
}

std::shared_ptr<Functional> Functional::make(std::vector<Symbol> inputs,
                                             std::vector<Symbol> outputs, std::string name,
                                             bool trainable, Structures structures) {
  auto model = std::make_shared<Functional>();
  check_structure(structures.inputs, inputs, "inputs");
  check_structure(structures.outputs, outputs, "outputs");
  model->structures_ = {nested_or_null(std::move(structures.inputs)),
                        nested_or_null(std::move(structures.outputs))};
  model->set_output_structure(model->structures_.outputs);
  model->graph_ = ModelAccess::make_graph({std::move(inputs), std::move(outputs)});
  LayerAccess::replace_sublayers(*model, model->graph_->layers);
  model->built_ = true;
  model->set_name(name.empty() ? unique_name("model") : std::move(name));
  model->trainable_ = trainable;
  return model;
}

void Functional::build(const std::vector<Shape>&) {
  if (!graph_) fail("a functional model is made of its inputs and outputs");
}

Tensors Functional::call(const Tensors& input_tensors, const Call& call) {
  const Graph& graph = *graph_;
  // The nesting of the inputs, with null for optional inputs that the call omits.
  const Value input_structure = Model::structures().inputs;
  const bool omits_inputs = input_tensors.size() < graph.inputs.size() &&
                            tensor_count(input_structure) == input_tensors.size();
  const Value& structure =
      call.structure.is_null() && omits_inputs ? input_structure : call.structure;
  const Tensors inputs = with_omitted_inputs(input_tensors, structure, graph.inputs, name());
  Tensors slots(graph.slot_count);
  // Whether the inputs have the shapes of the graph. With another batch size, the results have
  // other shapes than the graph, so they are not checked.
  bool has_graph_shapes = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    Tensor& input = slots[graph.input_slots[i]];
    input = fit_input(inputs[i], graph.inputs[i], i, name());
    has_graph_shapes = has_graph_shapes && input.shape().compatible(graph.inputs[i].shape());
  }
  for (const Graph::Call& graph_call : graph.calls) {
    Tensors arguments;
    for (int slot : graph_call.input_slots) arguments.push_back(slots[slot]);
    const Tensors results = call_again(*graph_call.node, arguments, call.training);
    if (has_graph_shapes) check_results(results, *graph_call.node, name());
    for (size_t i = 0; i < results.size(); ++i) slots[graph_call.output_slots[i]] = results[i];
  }
  for (const LossOrMetric& loss_or_metric : graph.losses_and_metrics)
    add(loss_or_metric, slots[loss_or_metric.slot]);
  Tensors outputs;
  for (int slot : graph.output_slots) outputs.push_back(slots[slot]);
  set_output_structure(structures_.outputs);
  return outputs;
}

void Functional::add(const LossOrMetric& loss_or_metric, Tensor value) {
  if (value.rank() > 0) value = ops::mean(value);
  if (loss_or_metric.metric_name.empty())
    add_loss(value);
  else
    add_metric(value, loss_or_metric.metric_name);
}

void Functional::add_to_graph(const LossOrMetric& loss_or_metric, const char* method) {
  if (!graph_)
    fail_in_layer(name(), method, " of a symbol: model ", name(), " (", class_name(),
                  ") is not made of symbols: make one of its inputs and outputs");
  if (!loss_or_metric.value || !is_floating(loss_or_metric.value.dtype()))
    fail_in_layer(name(), method, ": expected a symbol of a floating type, got ",
                  to_text(loss_or_metric.value));
  Graph endpoints{graph_->inputs, graph_->outputs, graph_->losses_and_metrics};
  endpoints.losses_and_metrics.push_back(loss_or_metric);
  graph_ = ModelAccess::make_graph(std::move(endpoints));
  LayerAccess::replace_sublayers(*this, graph_->layers);
}

void Functional::add_loss(const Symbol& loss) { add_to_graph({loss, ""}, "add_loss"); }

void Functional::add_metric(const Symbol& value, const std::string& name) {
  if (name.empty()) fail_in_layer(this->name(), "add_metric: expected a name for a symbol");
  add_to_graph({value, name}, "add_metric");
}

Tensors Functional::compute_mask(const Tensors&, const Tensors&, const Tensors& outputs) {
  Tensors masks;
  for (const Tensor& t : outputs) masks.push_back(t.mask());
  return masks;
}

std::vector<LayerPtr> Functional::operations() const {
  return graph_ ? graph_->layers : std::vector<LayerPtr>{};
}

std::vector<Symbol> Functional::inputs() const {
  if (!graph_) fail_in_layer(name(), "Model ", name(), " has not been built yet and has no inputs");
  return graph_->inputs;
}
std::vector<Symbol> Functional::outputs() const {
  if (!graph_)
    fail_in_layer(name(), "Model ", name(), " has not been built yet and has no outputs");
  return graph_->outputs;
}
std::vector<std::string> Functional::input_names() const {
  if (const auto keys = keys_of(structures_.inputs); !keys.empty()) return keys;
  return is_graph() ? distinct_names(inputs()) : Model::input_names();
}
std::vector<std::string> Functional::output_names() const {
  if (const auto keys = keys_of(structures_.outputs); !keys.empty()) return keys;
  return is_graph() ? distinct_names(outputs()) : Model::output_names();
}
Structures Functional::structures() const { return structures_; }

Dict Functional::get_config() const {
  if (!graph_)
    fail_in_layer(name(), "Model ", name(), " has not been built yet and has no configuration");
  const CallNumbers call_numbers(*graph_);
  return with_shared_objects([&] {
    List layers;
    for (const LayerPtr& layer : graph_->layers)
      layers.push_back(layer_config(call_numbers, layer));
    Dict config{{"name", name()},
                {"trainable", trainable_},
                {"layers", layers},
                {"input_layers", references(call_numbers, graph_->inputs)},
                {"output_layers", references(call_numbers, graph_->outputs)}};
    if (!structures_.inputs.is_null()) config.set("input_structure", structures_.inputs);
    if (!structures_.outputs.is_null()) config.set("output_structure", structures_.outputs);
    List losses, metrics;
    for (const LossOrMetric& loss_or_metric : graph_->losses_and_metrics)
      if (loss_or_metric.metric_name.empty())
        losses.push_back(call_numbers.reference(loss_or_metric.value));
      else
        metrics.push_back(
            List{loss_or_metric.metric_name, call_numbers.reference(loss_or_metric.value)});
    if (!losses.empty()) config.set("added_losses", std::move(losses));
    if (!metrics.empty()) config.set("added_metrics", std::move(metrics));
    return config;
  });
}

}  // namespace crescent

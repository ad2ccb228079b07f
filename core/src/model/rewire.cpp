#include "model/rewiring.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "layer/calls/call_arguments.h"
#include "layer/layer_access.h"
#include "model/graph.h"

namespace crescent {
namespace {

using GraphElement = std::variant<LayerPtr, Symbol>;

/// Finds the replacement of a layer or of an edge of the graph.
class ReplacementMap {
 public:
  ReplacementMap(const Model& model, const ModelAccess::Graph& graph, const GraphEdit& edit)
      : model_(model), graph_(graph), edit_(edit) {
    for (const Replacement& replacement : edit.replacements) {
      if (const auto* symbol = std::get_if<Symbol>(&replacement.old_element))
        replace_symbol(*symbol, replacement.new_element);
      else
        replace_layer(std::get<LayerPtr>(replacement.old_element), replacement.new_element);
    }
  }

  Symbol edge(const Symbol& symbol) const {
    const auto entry = edges_.find(key(symbol));
    return entry == edges_.end() ? symbol : entry->second;
  }
  /// Returns the layer that replaces `old_layer`: null if the layer is removed, `old_layer` itself
  /// if nothing replaces it.
  LayerPtr layer(const LayerPtr& old_layer) const {
    const auto entry = layers_.find(old_layer.get());
    return entry == layers_.end() ? old_layer : entry->second;
  }
  /// Returns the layer that is inserted after `old_layer`; null if there is none.
  LayerPtr inserted_layer(const LayerPtr& old_layer) const {
    return old_layer == edit_.layer ? edit_.next_layer : LayerPtr();
  }
  const LayerCall& call() const { return edit_.call; }
  const char* function_name() const { return edit_.function_name; }

 private:
  using Key = std::pair<const Node*, int>;
  static Key key(const Symbol& s) { return {s.node().get(), s.tensor_index()}; }

  void replace_symbol(const Symbol& old_symbol, const GraphElement& replacement) {
    if (!old_symbol) fail(function_name(), ": expected an edge to replace, got none");
    if (!is_in_graph(old_symbol))
      fail(function_name(), ": model ", model_.name(), " has no edge ", to_text(old_symbol));
    const auto* symbol = std::get_if<Symbol>(&replacement);
    if (!symbol || !*symbol)
      fail(function_name(), ": expected another edge in place of ", to_text(old_symbol), ", got ",
           symbol || !std::get<LayerPtr>(replacement) ? "none" : "a layer");
    add(edges_, key(old_symbol), *symbol, to_text(old_symbol));
  }

  void replace_layer(const LayerPtr& old_layer, const GraphElement& replacement) {
    if (!old_layer) fail(function_name(), ": expected a layer to replace, got none");
    const std::vector<LayerPtr>& all_layers = graph_.layers;
    if (std::find(all_layers.begin(), all_layers.end(), old_layer) == all_layers.end())
      fail_unknown(*old_layer);
    if (const auto* symbol = std::get_if<Symbol>(&replacement))
      return replace_symbol(only_output(*old_layer), *symbol);
    if (old_layer->class_name() == "InputLayer")
      fail(function_name(), ": input '", old_layer->name(),
           "' gives way to an edge from another Input only");
    add(layers_, static_cast<const Layer*>(old_layer.get()), std::get<LayerPtr>(replacement),
        old_layer->name());
  }

  template <class Map>
  void add(Map& map, const typename Map::key_type& key, const typename Map::mapped_type& value,
           const std::string& name) const {
    if (!map.emplace(key, value).second) fail(function_name(), ": '", name, "' is replaced twice");
  }

  bool is_in_graph(const Symbol& symbol) const {
    const auto& inputs = graph_.inputs;
    return std::find(inputs.begin(), inputs.end(), symbol) != inputs.end() ||
           std::any_of(graph_.calls.begin(), graph_.calls.end(),
                       [&](const auto& call) { return call.node == symbol.node(); });
  }

  Symbol only_output(const Layer& layer) const {
    std::vector<Symbol> outputs;
    for (const Symbol& input : graph_.inputs)
      if (input.layer().get() == &layer) outputs.push_back(input);
    for (const auto& call : graph_.calls)
      if (call.node->outbound_layer.get() == &layer)
        for (const Symbol& output : call.node->output_symbols(call.node)) outputs.push_back(output);
    if (outputs.size() != 1)
      fail(function_name(), ": layer '", layer.name(), "' has ", outputs.size(),
           " outputs in the model: say which one is replaced by the edge");
    return outputs.front();
  }

  [[noreturn]] void fail_unknown(const Layer& layer) const {
    std::vector<std::string> names;
    for (const LayerPtr& candidate : graph_.layers) names.push_back(candidate->name());
    fail(function_name(), ": model ", model_.name(), " has no layer '", layer.name(), "'",
         did_you_mean(layer.name(), names), "; it has: ", join(names));
  }

  const Model& model_;
  const ModelAccess::Graph& graph_;
  const GraphEdit& edit_;
  std::map<Key, Symbol> edges_;
  std::unordered_map<const Layer*, LayerPtr> layers_;
};

std::string shapes_text(const std::vector<Symbol>& symbols) {
  std::vector<std::string> texts;
  for (const Symbol& s : symbols) texts.push_back(to_text(s.shape()));
  return join(texts);
}

/// Visits the graph once and maps each old edge (a symbol) to its replacement.
class Rewiring {
 public:
  Rewiring(const Model& model, const ReplacementMap& replacement_map)
      : model_(model), replacement_map_(replacement_map) {}

  std::vector<Symbol> replacement_of(const std::vector<Symbol>& symbols) const {
    std::vector<Symbol> replacements;
    for (const Symbol& s : symbols) replacements.push_back(replacement_of(s));
    return replacements;
  }

  Symbol replacement_of(const Symbol& symbol) const {
    const Symbol new_symbol = replacement_map_.edge(symbol);
    if (!(new_symbol == symbol)) return new_symbol;
    const auto entry = replacements_of_outputs_.find({symbol.node().get(), symbol.tensor_index()});
    return entry == replacements_of_outputs_.end() ? symbol : entry->second;
  }

  void visit_call(const NodePtr& node) {
    const std::vector<Symbol> old_outputs = node->output_symbols(node),
                              new_outputs = outputs_of(*node, old_outputs);
    for (size_t i = 0; i < old_outputs.size(); ++i)
      if (!(new_outputs[i] == old_outputs[i]))
        replacements_of_outputs_[{node.get(), static_cast<int>(i)}] = new_outputs[i];
  }

 private:
  std::vector<Symbol> outputs_of(const Node& node, const std::vector<Symbol>& old_outputs) const {
    const std::vector<Symbol> inputs = replacement_of(node.inputs);
    const LayerPtr layer = replacement_map_.layer(node.outbound_layer);
    const LayerPtr inserted_layer = replacement_map_.inserted_layer(node.outbound_layer);
    const bool is_unchanged =
        !replacement_map_.call() && layer == node.outbound_layer && inputs == node.inputs;
    const std::vector<Symbol> new_outputs =
        is_unchanged ? old_outputs : outputs_of_new_call(node, layer, inputs, old_outputs);
    return inserted_layer ? call_layer(inserted_layer, new_outputs, {}) : new_outputs;
  }

  std::vector<Symbol> outputs_of_new_call(const Node& node, const LayerPtr& layer,
                                          const std::vector<Symbol>& inputs,
                                          const std::vector<Symbol>& old_outputs) const {
    if (!layer) return inputs_if_omitted(node, inputs, old_outputs.size());
    const std::vector<Symbol> new_outputs = call_in_place_of(node, layer, inputs);
    if (new_outputs.size() != old_outputs.size())
      fail(replacement_map_.function_name(), ": '", node.outbound_layer->name(), "' has ",
           old_outputs.size(), " outputs, '", layer->name(), "' in its place gives ",
           new_outputs.size());
    return new_outputs;
  }

  std::vector<Symbol> inputs_if_omitted(const Node& node, const std::vector<Symbol>& inputs,
                                        size_t output_count) const {
    if (inputs.size() != 1 || output_count != 1)
      fail(replacement_map_.function_name(),
           ": only a layer with one input and one output can be left out; '",
           node.outbound_layer->name(), "' has ", inputs.size(), " and ", output_count);
    return inputs;
  }

  std::vector<Symbol> call_in_place_of(const Node& node, const LayerPtr& layer,
                                       std::vector<Symbol> inputs) const {
    CallOptions options;
    options.training = node.training;
    options.structure = node.structure;
    options.arguments = replace_symbols(node.arguments, [&](const Symbol& s) {
      return Value(std::make_shared<BoxedSymbol>(replacement_of(s)));
    });
    inputs.resize(inputs.size() - node.argument_inputs);
    return call_layer(layer, inputs, options);
  }

  std::vector<Symbol> call_layer(const LayerPtr& layer, const std::vector<Symbol>& inputs,
                                 const CallOptions& options) const {
    try {
      return replacement_map_.call() ? replacement_map_.call()(layer, inputs, options)
                                     : (*layer)(inputs, options);
    } catch (Error& error) {
      error.add_context(concat(replacement_map_.function_name(), ": model ", model_.name(),
                               ", layer '", layer->name(), "' on ", shapes_text(inputs), ": "));
      throw;
    }
  }

  const Model& model_;
  const ReplacementMap& replacement_map_;
  std::map<std::pair<const Node*, int>, Symbol> replacements_of_outputs_;
};

}  // namespace

Symbol input_like(const Symbol& symbol) {
  InputOptions options;
  options.batch_shape = symbol.shape();
  options.dtype = symbol.dtype();
  return Input(options);
}

std::shared_ptr<Functional> edited_model(const Model& model, const GraphEdit& edit,
                                         std::string name) {
  if (!model.is_graph())
    fail(edit.function_name, ": expected a model made of symbols, got ", model.class_name(), " ",
         model.name(), model.built() ? "" : ", which is not built");
  const auto* functional = dynamic_cast<const Functional*>(&model);
  const ModelAccess::Graph* functional_graph =
      functional ? ModelAccess::graph(*functional) : nullptr;
  const bool keeps_outputs = edit.outputs.empty();
  ModelAccess::Graph endpoints{model.inputs(), keeps_outputs ? model.outputs() : edit.outputs};
  if (functional_graph && keeps_outputs)
    endpoints.losses_and_metrics = functional_graph->losses_and_metrics;
  const auto graph = ModelAccess::make_graph(std::move(endpoints));
  const ReplacementMap replacement_map(model, *graph, edit);
  Rewiring rewiring(model, replacement_map);
  for (const auto& call : graph->calls) rewiring.visit_call(call.node);
  const std::vector<Symbol> inputs =
      edit.inputs.empty() ? rewiring.replacement_of(graph->inputs) : edit.inputs;
  Structures structures = model.structures();
  if (inputs.size() != graph->inputs.size()) structures.inputs = {};
  if (!keeps_outputs) structures.outputs = {};
  const auto new_model =
      Functional::make(inputs, rewiring.replacement_of(graph->outputs), std::move(name),
                       LayerAccess::trainable_flag(model), std::move(structures));
  for (const ModelAccess::LossOrMetric& loss_or_metric : graph->losses_and_metrics) {
    const Symbol value = rewiring.replacement_of(loss_or_metric.value);
    if (loss_or_metric.metric_name.empty())
      new_model->add_loss(value);
    else
      new_model->add_metric(value, loss_or_metric.metric_name);
  }
  return new_model;
}

std::shared_ptr<Functional> rewire(const Model& model, const std::vector<Replacement>& replacements,
                                   std::string name, const LayerCall& call) {
  return edited_model(model, {.replacements = replacements, .call = call}, std::move(name));
}

}  // namespace crescent

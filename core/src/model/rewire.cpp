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

using Target = std::variant<LayerPtr, Symbol>;

/// Finds the replacement of a layer or of an edge of the graph.
class ReplacementMap {
 public:
  ReplacementMap(const Model& model, const ModelAccess::Graph& graph, const GraphEdit& edit)
      : model_(model), graph_(graph), edit_(edit) {
    for (const Replacement& replacement : edit.replacements) {
      if (const auto* symbol = std::get_if<Symbol>(&replacement.old))
        replace_symbol(*symbol, replacement.by);
      else
        replace_layer(std::get<LayerPtr>(replacement.old), replacement.by);
    }
  }

  Symbol edge(const Symbol& symbol) const {
    const auto found = edges_.find(key(symbol));
    return found == edges_.end() ? symbol : found->second;
  }
  /// Returns the layer that replaces `old`: null if `old` is removed, `old` itself if nothing
  /// replaces it.
  LayerPtr layer(const LayerPtr& old) const {
    const auto found = layers_.find(old.get());
    return found == layers_.end() ? old : found->second;
  }
  /// Returns the layer that is inserted after `old`; null if there is none.
  LayerPtr inserted_layer(const LayerPtr& old) const {
    return old == edit_.layer ? edit_.next_layer : LayerPtr();
  }
  const LayerCall& call() const { return edit_.call; }
  const char* verb() const { return edit_.verb; }

 private:
  using Key = std::pair<const Node*, int>;
  static Key key(const Symbol& s) { return {s.node().get(), s.tensor_index()}; }

  void replace_symbol(const Symbol& old, const Target& by) {
    if (!old) fail(verb(), ": expected an edge to replace, got none");
    if (!is_in_graph(old)) fail(verb(), ": model ", model_.name(), " has no edge ", to_text(old));
    const auto* symbol = std::get_if<Symbol>(&by);
    if (!symbol || !*symbol)
      fail(verb(), ": expected another edge in place of ", to_text(old), ", got ",
           symbol || !std::get<LayerPtr>(by) ? "none" : "a layer");
    add(edges_, key(old), *symbol, to_text(old));
  }

  void replace_layer(const LayerPtr& old, const Target& by) {
    if (!old) fail(verb(), ": expected a layer to replace, got none");
    const std::vector<LayerPtr>& all_layers = graph_.layers;
    if (std::find(all_layers.begin(), all_layers.end(), old) == all_layers.end())
      fail_unknown(*old);
    if (const auto* symbol = std::get_if<Symbol>(&by))
      return replace_symbol(only_output(*old), *symbol);
    if (old->class_name() == "InputLayer")
      fail(verb(), ": input '", old->name(), "' gives way to an edge from another Input only");
    add(layers_, static_cast<const Layer*>(old.get()), std::get<LayerPtr>(by), old->name());
  }

  template <class Map>
  void add(Map& map, const typename Map::key_type& old, const typename Map::mapped_type& by,
           const std::string& name) const {
    if (!map.emplace(old, by).second) fail(verb(), ": '", name, "' is replaced twice");
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
      fail(verb(), ": layer '", layer.name(), "' has ", outputs.size(),
           " outputs in the model: say which one is replaced by the edge");
    return outputs.front();
  }

  [[noreturn]] void fail_unknown(const Layer& layer) const {
    std::vector<std::string> names;
    for (const LayerPtr& candidate : graph_.layers) names.push_back(candidate->name());
    fail(verb(), ": model ", model_.name(), " has no layer '", layer.name(), "'",
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

/// Visits the graph once and maps each old edge to its replacement.
class Rewiring {
 public:
  Rewiring(const Model& model, const ReplacementMap& plan) : model_(model), plan_(plan) {}

  std::vector<Symbol> replacement_of(const std::vector<Symbol>& symbols) const {
    std::vector<Symbol> inputs;
    for (const Symbol& s : symbols) inputs.push_back(replacement_of(s));
    return inputs;
  }

  Symbol replacement_of(const Symbol& symbol) const {
    const Symbol new_symbol = plan_.edge(symbol);
    if (!(new_symbol == symbol)) return new_symbol;
    const auto found = replacements_of_outputs_.find({symbol.node().get(), symbol.tensor_index()});
    return found == replacements_of_outputs_.end() ? symbol : found->second;
  }

  void visit_call(const NodePtr& node) {
    const std::vector<Symbol> before = node->output_symbols(node),
                              after = outputs_of(*node, before);
    for (size_t i = 0; i < before.size(); ++i)
      if (!(after[i] == before[i]))
        replacements_of_outputs_[{node.get(), static_cast<int>(i)}] = after[i];
  }

 private:
  std::vector<Symbol> outputs_of(const Node& node, const std::vector<Symbol>& before) const {
    const std::vector<Symbol> inputs = replacement_of(node.inputs);
    const LayerPtr layer = plan_.layer(node.outbound_layer);
    const LayerPtr new_layer = plan_.inserted_layer(node.outbound_layer);
    const bool is_unchanged =
        !plan_.call() && layer == node.outbound_layer && inputs == node.inputs;
    const std::vector<Symbol> after =
        is_unchanged ? before : called_anew(node, layer, inputs, before);
    return new_layer ? call_layer(new_layer, after, {}) : after;
  }

  std::vector<Symbol> called_anew(const Node& node, const LayerPtr& layer,
                                  const std::vector<Symbol>& inputs,
                                  const std::vector<Symbol>& before) const {
    if (!layer) return inputs_if_omitted(node, inputs, before.size());
    const std::vector<Symbol> after = called_as(node, layer, inputs);
    if (after.size() != before.size())
      fail(plan_.verb(), ": '", node.outbound_layer->name(), "' has ", before.size(), " outputs, '",
           layer->name(), "' in its place gives ", after.size());
    return after;
  }

  std::vector<Symbol> inputs_if_omitted(const Node& node, const std::vector<Symbol>& inputs,
                                        size_t outputs) const {
    if (inputs.size() != 1 || outputs != 1)
      fail(plan_.verb(), ": only a layer with one input and one output can be left out; '",
           node.outbound_layer->name(), "' has ", inputs.size(), " and ", outputs);
    return inputs;
  }

  std::vector<Symbol> called_as(const Node& node, const LayerPtr& layer,
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
      return plan_.call() ? plan_.call()(layer, inputs, options) : (*layer)(inputs, options);
    } catch (Error& error) {
      error.add_context(concat(plan_.verb(), ": model ", model_.name(), ", layer '", layer->name(),
                               "' on ", shapes_text(inputs), ": "));
      throw;
    }
  }

  const Model& model_;
  const ReplacementMap& plan_;
  std::map<std::pair<const Node*, int>, Symbol> replacements_of_outputs_;
};

}  // namespace

Symbol input_like(const Symbol& symbol) {
  InputOptions options;
  options.batch_shape = symbol.shape();
  options.dtype = symbol.dtype();
  return Input(options);
}

std::shared_ptr<Functional> edited(const Model& model, const GraphEdit& edit, std::string name) {
  if (!model.is_graph())
    fail(edit.verb, ": expected a model made of symbols, got ", model.class_name(), " ",
         model.name(), model.built() ? "" : ", which is not built");
  const auto* functional = dynamic_cast<const Functional*>(&model);
  const ModelAccess::Graph* own_graph = functional ? ModelAccess::graph(*functional) : nullptr;
  const bool ends_alike = edit.outputs.empty();
  ModelAccess::Graph end_graph{model.inputs(), ends_alike ? model.outputs() : edit.outputs};
  if (own_graph && ends_alike) end_graph.losses_and_metrics = own_graph->losses_and_metrics;
  const auto graph = ModelAccess::make_graph(std::move(end_graph));
  const ReplacementMap plan(model, *graph, edit);
  Rewiring rewiring(model, plan);
  for (const auto& call : graph->calls) rewiring.visit_call(call.node);
  const std::vector<Symbol> inputs =
      edit.inputs.empty() ? rewiring.replacement_of(graph->inputs) : edit.inputs;
  Structures structures = model.structures();
  if (inputs.size() != graph->inputs.size()) structures.inputs = {};
  if (!ends_alike) structures.outputs = {};
  const auto new_model =
      Functional::make(inputs, rewiring.replacement_of(graph->outputs), std::move(name),
                       LayerAccess::own_trainable(model), std::move(structures));
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
  return edited(model, {.replacements = replacements, .call = call}, std::move(name));
}

}  // namespace crescent

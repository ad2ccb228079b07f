// Builds the graph of a model from its inputs and outputs, with the checks of Keras 2.3.1.
#include "model/graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "layer/input_layer.h"
#include "model/rewiring.h"

namespace crescent {
namespace {

using Graph = ModelAccess::Graph;

bool is_input(const LayerPtr& layer) {
  return dynamic_cast<const InputLayer*>(layer.get()) != nullptr;
}

std::string symbols_text(const std::vector<Symbol>& symbols) {
  std::vector<std::string> texts;
  for (const Symbol& s : symbols) texts.push_back(to_text(s));
  return "[" + join(texts) + "]";
}

void check_inputs_and_outputs(const std::vector<Symbol>& inputs,
                              const std::vector<Symbol>& outputs) {
  if (inputs.empty()) fail("a model needs at least one input");
  if (outputs.empty()) fail("a model needs at least one output");
  for (const Symbol& s : outputs)
    if (!s)
      fail(
          "Output tensors to a Model must be the output of a Keras `Layer` (thus holding past "
          "layer metadata). Found: none");
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i])
      fail(
          "Input tensors to a Model must come from `keras.layers.Input`. Received: none (missing "
          "previous layer metadata).");
    if (std::find(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(i), inputs[i]) !=
        inputs.begin() + static_cast<std::ptrdiff_t>(i))
      fail(
          "The list of inputs passed to the model is redundant. All inputs should only appear "
          "once. Found: ",
          symbols_text(inputs));
  }
}

/// Collects the nodes that `outputs` depend on, producers first, and their layers in order of
/// discovery.
class GraphTraversal {
 public:
  explicit GraphTraversal(const std::vector<Symbol>& outputs) {
    for (const Symbol& s : outputs) visit(s.node());
  }
  std::vector<NodePtr> nodes;
  std::unordered_map<const Layer*, int> discovery_index;

 private:
  /// The traversal is not recursive, because graphs may be thousands of layers deep.
  void visit(const NodePtr& start_node) {
    struct Frame {
      NodePtr node;
      size_t next_input = 0;
    };
    std::vector<Frame> path;
    auto enter = [&](const NodePtr& node) {
      if (!visited_nodes_.insert(node.get()).second) return;
      discovery_index.try_emplace(node->outbound_layer.get(),
                                  static_cast<int>(discovery_index.size()));
      path.push_back({node});
    };
    enter(start_node);
    while (!path.empty()) {
      Frame& frame = path.back();
      if (frame.next_input < frame.node->inputs.size()) {
        const NodePtr producer = frame.node->inputs[frame.next_input++].node();
        enter(producer);
      } else {
        nodes.push_back(frame.node);
        path.pop_back();
      }
    }
  }
  std::set<const Node*> visited_nodes_;
};

struct Depths {
  std::unordered_map<const Node*, int> by_node;
  std::unordered_map<const Layer*, int> by_layer;
};

Depths depths_of(const std::vector<NodePtr>& nodes) {
  Depths depths;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    int& node_depth = depths.by_node[it->get()];
    int& layer_depth = depths.by_layer[(*it)->outbound_layer.get()];
    node_depth = layer_depth = std::max(node_depth, layer_depth);
    const int depth = node_depth;
    for (const Symbol& s : (*it)->inputs) {
      int& producer_depth = depths.by_node[s.node().get()];
      producer_depth = std::max(producer_depth, depth + 1);
    }
  }
  return depths;
}

void check_names(const std::vector<LayerPtr>& layers) {
  std::map<std::string, int> counts;
  for (const LayerPtr& layer : layers)
    if (++counts[layer->name()] > 1) {
      const auto uses = std::count_if(layers.begin(), layers.end(), [&](const LayerPtr& l) {
        return l->name() == layer->name();
      });
      fail("The name \"", layer->name(), "\" is used ", uses,
           " times in the model. All layer names should be unique.");
    }
}

/// Gives symbols numbers, which are called slots, in the order in which add() is first called on
/// them.
class Slots {
 public:
  int add(const Symbol& s) {
    return numbers_
        .try_emplace({s.node().get(), s.tensor_index()}, static_cast<int>(numbers_.size()))
        .first->second;
  }
  const int* find(const Symbol& s) const {
    const auto it = numbers_.find({s.node().get(), s.tensor_index()});
    return it == numbers_.end() ? nullptr : &it->second;
  }
  int count() const { return static_cast<int>(numbers_.size()); }

 private:
  std::map<std::pair<const Node*, int>, int> numbers_;
};

[[noreturn]] void fail_disconnected(const Symbol& s, const NodePtr& consumer,
                                    const std::vector<std::string>& accessed_layer_names) {
  std::vector<std::string> quoted_names;
  for (const std::string& name : accessed_layer_names) quoted_names.push_back("'" + name + "'");
  fail("Graph disconnected: cannot obtain value for tensor ", to_text(s), " at layer \"",
       consumer->outbound_layer->name(),
       "\". The following previous layers were accessed without issue: [", join(quoted_names), "]");
}

std::vector<Symbol> inputs_needed_by(const std::vector<Symbol>& outputs) {
  std::vector<Symbol> inputs;
  for (const NodePtr& node : GraphTraversal(outputs).nodes)
    if (is_input(node->outbound_layer)) inputs.emplace_back(node, 0);
  return inputs;
}

/// If inputs of the graph are outputs of layers, replaces them by new inputs, and calls the layers
/// from there to the outputs again.
void replace_computed_inputs(Graph& graph) {
  GraphEdit edit{.function_name = "Model"};
  for (const Symbol& input : graph.inputs) {
    edit.inputs.push_back(is_input(input.layer()) ? input : input_like(input));
    if (!(edit.inputs.back() == input)) edit.replacements.push_back({input, edit.inputs.back()});
  }
  if (edit.replacements.empty()) return;
  const auto whole_model = Functional::make(inputs_needed_by(graph.outputs), graph.outputs,
                                            "of these inputs and outputs");
  graph.outputs = edited_model(*whole_model, edit, "of these inputs and outputs")->outputs();
  graph.inputs = edit.inputs;
}

}  // namespace

std::shared_ptr<const Graph> ModelAccess::make_graph(Graph endpoints) {
  const auto graph = std::make_shared<Graph>(std::move(endpoints));
  const std::vector<Symbol>&inputs = graph->inputs, &outputs = graph->outputs;
  check_inputs_and_outputs(inputs, outputs);
  replace_computed_inputs(*graph);
  std::vector<Symbol> end_symbols = outputs;
  for (const ModelAccess::LossOrMetric& loss_or_metric : graph->losses_and_metrics)
    end_symbols.push_back(loss_or_metric.value);
  end_symbols.insert(end_symbols.end(), inputs.begin(),
                     inputs.end());  // inputs that no output needs belong to the model too
  GraphTraversal traversal(end_symbols);
  Depths depths = depths_of(traversal.nodes);
  std::stable_sort(traversal.nodes.begin(), traversal.nodes.end(),
                   [&](const NodePtr& a, const NodePtr& b) {
                     return depths.by_node[a.get()] > depths.by_node[b.get()];
                   });

  Slots slots;
  for (const Symbol& s : inputs) graph->input_slots.push_back(slots.add(s));
  std::vector<std::string> accessed_layer_names;
  for (const NodePtr& node : traversal.nodes) {
    if (is_input(node->outbound_layer)) {
      if (slots.find(Symbol(node, 0))) accessed_layer_names.push_back(node->outbound_layer->name());
      continue;
    }
    Graph::Call call{node, {}, {}};
    for (const Symbol& s : node->inputs) {
      const int* slot = slots.find(s);
      if (!slot) fail_disconnected(s, node, accessed_layer_names);
      call.input_slots.push_back(*slot);
    }
    for (const Symbol& s : node->output_symbols(node)) call.output_slots.push_back(slots.add(s));
    graph->calls.push_back(std::move(call));
    accessed_layer_names.push_back(node->outbound_layer->name());
  }
  const auto slot_of = [&](const Symbol& s) {
    const int* slot = slots.find(s);
    if (!slot) fail_disconnected(s, s.node(), accessed_layer_names);
    return *slot;
  };
  for (const Symbol& s : outputs) graph->output_slots.push_back(slot_of(s));
  for (ModelAccess::LossOrMetric& loss_or_metric : graph->losses_and_metrics)
    loss_or_metric.slot = slot_of(loss_or_metric.value);
  graph->slot_count = slots.count();

  std::set<const Layer*> listed_layers;
  for (const NodePtr& node : traversal.nodes)
    if (listed_layers.insert(node->outbound_layer.get()).second)
      graph->layers.push_back(node->outbound_layer);
  std::sort(graph->layers.begin(), graph->layers.end(), [&](const LayerPtr& a, const LayerPtr& b) {
    const int depth_a = depths.by_layer[a.get()], depth_b = depths.by_layer[b.get()];
    return depth_a != depth_b
               ? depth_a > depth_b
               : traversal.discovery_index[a.get()] < traversal.discovery_index[b.get()];
  });
  check_names(graph->layers);
  return graph;
}

}  // namespace crescent

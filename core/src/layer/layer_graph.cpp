// The inputs, outputs, shapes and masks of a layer's calls on symbols, with the error messages of
// Keras 2.3.1.
#include <functional>

#include "crescent/layer/layer.h"
#include "layer/layer_access.h"

namespace crescent {
namespace {

std::vector<NodePtr> existing_nodes(const std::vector<std::weak_ptr<const Node>>& nodes) {
  std::vector<NodePtr> result;
  for (const auto& weak_node : nodes)
    if (NodePtr node = weak_node.lock()) result.push_back(std::move(node));
  return result;
}

void drop_expired(std::vector<std::weak_ptr<const Node>>& nodes) {
  std::erase_if(nodes, [](const std::weak_ptr<const Node>& node) { return node.expired(); });
}

std::vector<Shape> shapes_of(const std::vector<Symbol>& symbols) {
  std::vector<Shape> shapes;
  for (const Symbol& s : symbols) shapes.push_back(s.shape());
  return shapes;
}

const NodePtr& node_at(const std::vector<NodePtr>& nodes, int index, const char* what) {
  if (nodes.empty()) fail("The layer has never been called and thus has no defined ", what, ".");
  const int count = static_cast<int>(nodes.size());
  const int i = index < 0 ? index + count : index;
  if (i < 0 || i >= count)
    fail("Asked to get ", what, " at node ", index, ", but the layer has only ", count,
         " inbound nodes.");
  return nodes[i];
}

std::vector<Symbol> inputs_of(const NodePtr& node) { return node->inputs; }
std::vector<Symbol> outputs_of(const NodePtr& node) { return node->output_symbols(node); }

const NodePtr& only_node(const std::vector<NodePtr>& nodes, const std::string& layer,
                         const char* what, const char* getter) {
  if (nodes.size() > 1)
    fail_in_layer(layer, "Layer ", layer,
                  " has multiple inbound nodes, hence the notion of \"layer ", what,
                  "\" is ill-defined. Use `", getter, "(node_index)` instead.");
  return nodes.front();
}

std::vector<Shape> common_shapes(const std::vector<NodePtr>& nodes,
                                 std::vector<Symbol> (*symbols_of)(const NodePtr&),
                                 const std::string& layer, const std::string& what) {
  if (nodes.empty())
    fail("The layer has never been called and thus has no defined ", what, " shape.");
  const std::vector<Shape> first_shapes = shapes_of(symbols_of(nodes.front()));
  for (const NodePtr& node : nodes)
    if (shapes_of(symbols_of(node)) != first_shapes)
      fail_in_layer(layer, "The layer \"", layer, " has multiple inbound nodes, with different ",
                    what, " shapes. Hence the notion of \"", what,
                    " shape\" is ill-defined for the layer. Use `get_", what,
                    "_shape_at(node_index)` instead.");
  return first_shapes;
}

/// Returns the node of the layer's only call; fails if the layer has no calls or several. `what`,
/// "input" or "output", says in the message which mask was requested.
NodePtr node_with_mask(const std::vector<NodePtr>& nodes, const std::string& layer,
                       const char* what) {
  if (nodes.empty())
    fail_in_layer(layer, "Layer ", layer, " has never been called and thus has no ", what,
                  " mask.");
  if (nodes.size() > 1)
    fail_in_layer(layer, "Layer ", layer, " has ", nodes.size(),
                  " inbound nodes, hence the notion of \"layer ", what, " mask\" is ill-defined.");
  return nodes.front();
}

Tensor mask_of(const std::vector<Symbol>& symbols) {
  return symbols.empty() ? Tensor() : symbols.front().abstract().mask();
}

}  // namespace

void LayerAccess::add_node(const NodePtr& node) {
  prune_nodes(*node->outbound_layer);
  Layer& layer = *node->outbound_layer;
  node->index_ = static_cast<int>(layer.inbound_nodes_.size());
  layer.inbound_nodes_.push_back(node);
  for (const Symbol& s : node->inputs) {
    drop_expired(s.layer()->outbound_nodes_);
    s.layer()->outbound_nodes_.push_back(node);
  }
}

void LayerAccess::prune_nodes(const Layer& layer) {
  auto& nodes = const_cast<Layer&>(layer).inbound_nodes_;
  drop_expired(nodes);
  int index = 0;
  for (const auto& weak_node : nodes)
    if (NodePtr node = weak_node.lock()) node->index_ = index++;
}

std::vector<NodePtr> Layer::inbound_nodes() const {
  LayerAccess::prune_nodes(*this);
  return existing_nodes(inbound_nodes_);
}
std::vector<NodePtr> Layer::outbound_nodes() const { return existing_nodes(outbound_nodes_); }

std::vector<Symbol> Layer::input() const {
  if (std::vector<Symbol> inputs = graph_inputs(); !inputs.empty()) return inputs;
  const std::vector<NodePtr> nodes = inbound_nodes();
  if (nodes.empty())
    fail_in_layer(name_, "Layer ", name_, " is not connected, no input to return.");
  return only_node(nodes, name_, "input", "get_input_at")->inputs;
}

std::vector<Symbol> Layer::output() const {
  if (std::vector<Symbol> outputs = graph_outputs(); !outputs.empty()) return outputs;
  const std::vector<NodePtr> nodes = inbound_nodes();
  if (nodes.empty()) fail_in_layer(name_, "Layer ", name_, " has no inbound nodes.");
  return outputs_of(only_node(nodes, name_, "output", "get_output_at"));
}

std::vector<Symbol> Layer::get_input_at(int node_index) const {
  return node_at(inbound_nodes(), node_index, "input")->inputs;
}
std::vector<Symbol> Layer::get_output_at(int node_index) const {
  return outputs_of(node_at(inbound_nodes(), node_index, "output"));
}
std::vector<Shape> Layer::get_input_shape_at(int node_index) const {
  return shapes_of(inputs_of(node_at(inbound_nodes(), node_index, "input shape")));
}
std::vector<Shape> Layer::get_output_shape_at(int node_index) const {
  return shapes_of(outputs_of(node_at(inbound_nodes(), node_index, "output shape")));
}

std::vector<Shape> Layer::input_shape() const {
  if (std::vector<Symbol> inputs = graph_inputs(); !inputs.empty()) return shapes_of(inputs);
  return common_shapes(inbound_nodes(), inputs_of, name_, "input");
}
std::vector<Shape> Layer::output_shape() const {
  if (std::vector<Symbol> outputs = graph_outputs(); !outputs.empty()) return shapes_of(outputs);
  return common_shapes(inbound_nodes(), outputs_of, name_, "output");
}

Tensor Layer::input_mask() const {
  return mask_of(inputs_of(node_with_mask(inbound_nodes(), name_, "input")));
}
Tensor Layer::output_mask() const {
  return mask_of(outputs_of(node_with_mask(inbound_nodes(), name_, "output")));
}

}  // namespace crescent

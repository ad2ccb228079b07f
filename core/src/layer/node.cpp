#include "crescent/layer/node.h"

#include "crescent/layer/layer.h"
#include "layer/layer_access.h"

namespace crescent {
namespace {

/// Deletes a node without recursion: nodes that become unreachable during a deletion are queued and
/// deleted by the outermost call.
void delete_in_turn(Node* node) {
  thread_local std::vector<Node*>* waiting_nodes = nullptr;
  if (waiting_nodes) return waiting_nodes->push_back(node);
  std::vector<Node*> nodes{node};
  waiting_nodes = &nodes;
  while (!nodes.empty()) {
    Node* next_node = nodes.back();
    nodes.pop_back();
    delete next_node;
  }
  waiting_nodes = nullptr;
}

}  // namespace

BoxedSymbol::~BoxedSymbol() = default;

std::shared_ptr<Node> LayerAccess::make_node() {
  return std::shared_ptr<Node>(new Node, delete_in_turn);
}

const Tensor& Symbol::abstract() const {
  if (!node_) fail("expected a symbol, got none");
  return node_->outputs.at(tensor_index_);
}
const TensorSpec& Symbol::spec() const { return abstract().spec(); }

const std::shared_ptr<Layer>& Symbol::layer() const {
  if (!node_) fail("expected a symbol, got none");
  return node_->outbound_layer;
}

int Symbol::node_index() const {
  LayerAccess::prune_nodes(*layer());
  return node_->index();
}

std::string Symbol::name() const { return concat(layer()->name(), "/output_", tensor_index_); }

std::string to_text(const Symbol& symbol) {
  if (!symbol) return "<Symbol>";
  return concat("<Symbol shape=", symbol.shape(), " dtype=", symbol.dtype(), " (created by layer '",
                symbol.layer()->name(), "')>");
}

std::vector<Symbol> Node::output_symbols(const NodePtr& self) const {
  std::vector<Symbol> symbols;
  for (size_t i = 0; i < outputs.size(); ++i) symbols.emplace_back(self, static_cast<int>(i));
  return symbols;
}

std::vector<std::shared_ptr<Layer>> Node::inbound_layers() const {
  std::vector<std::shared_ptr<Layer>> layers;
  for (const Symbol& s : inputs) layers.push_back(s.layer());
  return layers;
}

std::vector<int> Node::node_indices() const {
  std::vector<int> indices;
  for (const Symbol& s : inputs) indices.push_back(s.node_index());
  return indices;
}

std::vector<int> Node::tensor_indices() const {
  std::vector<int> indices;
  for (const Symbol& s : inputs) indices.push_back(s.tensor_index());
  return indices;
}

Dict Node::get_config() const {
  List names;
  for (const auto& layer : inbound_layers()) names.push_back(layer->name());
  return {{"outbound_layer", outbound_layer->name()},
          {"inbound_layers", std::move(names)},
          {"node_indices", node_indices()},
          {"tensor_indices", tensor_indices()}};
}

}  // namespace crescent

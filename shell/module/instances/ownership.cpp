#include "instances/ownership.h"

#include "lua/handle.h"

namespace crescent::lua {

Ownership::Ownership(lua_State* L) {
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
    if (Object* object = peek_object(L, -1)) {
      handles_.push_back(object);
      ++owner_counts_[object];
      visit(object);
    }
  count_owners_of_nodes();
  for (const auto& [object, count] : owner_counts_)
    if (object->weak_from_this().use_count() > count) mark_owned_by_cpp(object);
}

void Ownership::visit(Object* object) {
  if (!visited_.insert(object).second) return;
  for_each_owned(object, [&](Object* owned_object) {
    ++owner_counts_[owned_object];
    visit(owned_object);
  });
  if (auto* model = dynamic_cast<const Functional*>(object)) visit_graph(*model);
}

/// Counts the references of a graph to its nodes and layers. Symbols (the inputs and outputs of the
/// graph and of its nodes) refer to nodes. Besides the list of sublayers, which visit() counts, a
/// Functional has one more list of its layers, and a built Sequential has two.
void Ownership::visit_graph(const Functional& model) {
  const bool is_sequential = dynamic_cast<const Sequential*>(&model);
  for (const LayerPtr& layer : model.operations())
    owner_counts_[layer.get()] += is_sequential && model.is_graph() ? 2 : 1;
  if (!model.is_graph()) return;
  ++graph_count_;
  std::vector<const Node*> pending_nodes;
  std::unordered_set<const Node*> seen_nodes;
  auto add_owners = [&](const std::vector<Symbol>& symbols) {
    for (const Symbol& symbol : symbols) {
      const Node* node = symbol.node().get();
      add_owner(node);
      if (seen_nodes.insert(node).second) pending_nodes.push_back(node);
    }
  };
  auto push_nodes = [&](const std::vector<Symbol>& symbols) {
    for (const Symbol& symbol : symbols)
      if (seen_nodes.insert(symbol.node().get()).second)
        pending_nodes.push_back(symbol.node().get());
  };
  add_owners(model.inputs());
  add_owners(model.outputs());
  while (!pending_nodes.empty()) {
    const Node* node = pending_nodes.back();
    pending_nodes.pop_back();
    const bool is_new =
        node_owners_.try_emplace(node, Owners{0, graph_count_}).first->second.graph_index ==
        graph_count_;
    if (!node->inputs.empty()) add_owner(node);
    is_new ? add_owners(node->inputs) : push_nodes(node->inputs);
  }
}

void Ownership::add_owner(const Node* node) {
  ++node_owners_.try_emplace(node, Owners{0, graph_count_}).first->second.count;
}

/// If only graphs own a node, counts the node as an owner of its layer.
void Ownership::count_owners_of_nodes() {
  for (const auto& [node, owners] : node_owners_)
    for (const NodePtr& node_pointer : node->outbound_layer->inbound_nodes())
      if (node_pointer.get() == node && node_pointer.use_count() - 1 == owners.count)
        ++owner_counts_[node->outbound_layer.get()];
}

void Ownership::mark_owned_by_cpp(Object* object) {
  if (!owned_by_cpp_.insert(object).second) return;
  for_each_owned(object, [&](Object* owned_object) { mark_owned_by_cpp(owned_object); });
}

}  // namespace crescent::lua

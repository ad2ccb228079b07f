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
  each_below(object, [&](Object* owned) {
    ++owner_counts_[owned];
    visit(owned);
  });
  if (auto* model = dynamic_cast<const Functional*>(object)) visit_graph(*model);
}

/// Counts the references that a graph holds to its nodes (through its inputs and outputs) and to
/// its layers, which it holds once more as sublayers. A Sequential has another list of its layers.
void Ownership::visit_graph(const Functional& model) {
  const bool sequential = dynamic_cast<const Sequential*>(&model);
  for (const LayerPtr& layer : model.layers())
    owner_counts_[layer.get()] += sequential && model.is_graph() ? 2 : 1;
  if (!model.is_graph()) return;
  ++graphs_;
  std::vector<const Node*> waiting;
  std::unordered_set<const Node*> here;
  auto count = [&](const std::vector<Symbol>& symbols) {
    for (const Symbol& symbol : symbols) {
      const Node* node = symbol.node().get();
      add_owner(node);
      if (here.insert(node).second) waiting.push_back(node);
    }
  };
  auto reach = [&](const std::vector<Symbol>& symbols) {
    for (const Symbol& symbol : symbols)
      if (here.insert(symbol.node().get()).second) waiting.push_back(symbol.node().get());
  };
  count(model.inputs());
  count(model.outputs());
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    const bool is_new = nodes_.try_emplace(node, Owners{0, graphs_}).first->second.graph == graphs_;
    if (!node->inputs.empty()) add_owner(node);
    is_new ? count(node->inputs) : reach(node->inputs);
  }
}

void Ownership::add_owner(const Node* node) {
  ++nodes_.try_emplace(node, Owners{0, graphs_}).first->second.count;
}

/// If only graphs own a node, counts the node as an owner of its layer.
void Ownership::count_owners_of_nodes() {
  for (const auto& [node, owners] : nodes_)
    for (const NodePtr& living : node->outbound_layer->inbound_nodes())
      if (living.get() == node && living.use_count() - 1 == owners.count)
        ++owner_counts_[node->outbound_layer.get()];
}

void Ownership::mark_owned_by_cpp(Object* object) {
  if (!owned_by_cpp_.insert(object).second) return;
  each_below(object, [&](Object* owned) { mark_owned_by_cpp(owned); });
}

}  // namespace crescent::lua

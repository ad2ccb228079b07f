// Counts the known owners of objects that have handles in Lua, and of their sublayers. Known owners
// are handles, layers (of their sublayers and metrics) and graphs. If an object has more references
// than known owners, some C++ code owns it.
#pragma once
#include <lua.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "crescent/model/model.h"

namespace crescent::lua {

class Ownership {
 public:
  /// Counts the owners of the objects in the table of handles on top of the stack.
  explicit Ownership(lua_State* L);
  const std::vector<Object*>& handles() const { return handles_; }
  /// Whether C++ code owns the object, or owns an object that owns it directly or through others.
  bool is_owned_by_cpp(Object* object) const { return owned_by_cpp_.contains(object); }

  /// Calls f for every sublayer and metric of the object.
  template <class F>
  static void for_each_owned(Object* object, F f) {
    auto* layer = dynamic_cast<Layer*>(object);
    if (!layer) return;
    for (const LayerPtr& sublayer : layer->sublayers()) f(static_cast<Object*>(sublayer.get()));
    for (const auto& metric : layer->metrics()) f(static_cast<Object*>(metric.get()));
  }

 private:
  void visit(Object* object);
  void visit_graph(const Functional& model);
  void add_owner(const Node* node);
  void count_owners_of_nodes();
  void mark_owned_by_cpp(Object* object);

  std::vector<Object*> handles_;
  /// The counted owners of a node, and the index of the graph in which it was first found.
  struct Owners {
    long count;
    size_t graph_index;
  };
  std::unordered_map<Object*, long> owner_counts_;  // the number of counted owners of each object
  // the counted owners of each node; a node owns its layer
  std::unordered_map<const Node*, Owners> node_owners_;
  size_t graph_count_ = 0;
  std::unordered_set<Object*> visited_, owned_by_cpp_;
};

}  // namespace crescent::lua

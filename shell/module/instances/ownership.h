// Who owns what among the objects that Lua has handles of and the layers below them, as far as it
// can be counted: handles, layers that have sublayers and metrics, graphs. An owner that is not
// counted is somebody in C++.
#pragma once
#include <lua.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "crescent/model/model.h"

namespace crescent::lua {

class Ownership {
 public:
  /// The table of handles is on top of the stack.
  explicit Ownership(lua_State* L);
  const std::vector<Object*>& handles() const { return handles_; }
  /// True when somebody owns the object, or one above it, who was not counted.
  bool is_kept(Object* object) const { return kept_.contains(object); }

  /// Calls f for every object that this one owns as a layer.
  template <class F>
  static void each_below(Object* object, F f) {
    auto* layer = dynamic_cast<Layer*>(object);
    if (!layer) return;
    for (const LayerPtr& sublayer : layer->sublayers()) f(static_cast<Object*>(sublayer.get()));
    for (const auto& metric : layer->metrics()) f(static_cast<Object*>(metric.get()));
  }

 private:
  void visit(Object* object);
  void visit_graph(const Functional& model);
  void add_owner(const Node* node);
  void count_nodes();
  void keep(Object* object);

  std::vector<Object*> handles_;
  /// Of a node, and the number of the graph that it was found in first.
  struct Owners {
    long count;
    size_t graph;
  };
  std::unordered_map<Object*, long> known_;        // owners that were counted
  std::unordered_map<const Node*, Owners> nodes_;  // the same of nodes, which own their layer
  size_t graphs_ = 0;
  std::unordered_set<Object*> visited_, kept_;
};

}  // namespace crescent::lua

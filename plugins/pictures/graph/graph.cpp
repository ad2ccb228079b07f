#include "graph/graph.h"

#include <algorithm>

#include "entries.h"

namespace crescent::pictures {
namespace {

int number_below(const Value& value, size_t count, const char* item_kind) {
  const int64_t number = value.as_int();
  if (number < 0 || number >= static_cast<int64_t>(count))
    fail("expected the number of a ", item_kind, " below ", count, ", got ", number);
  return static_cast<int>(number);
}

/// Fails if a group contains itself, directly or through other groups.
void check_parents(const Graph& graph) {
  for (size_t i = 0; i < graph.groups.size(); ++i)
    if (graph.groups[i].parent >= static_cast<int>(i))
      fail("expected groups after those around them, got ", i, " in ", graph.groups[i].parent);
}

}  // namespace

std::vector<int> Graph::groups_around(int node) const {
  std::vector<int> result;
  for (int group = nodes[static_cast<size_t>(node)].group; group >= 0;
       group = groups[static_cast<size_t>(group)].parent)
    result.insert(result.begin(), group);
  return result;
}

Graph graph_from(const Dict& figure) {
  Graph graph;
  static const List empty_list;
  const Value& groups = entry(figure, "groups");
  for (const Value& item : groups.is_null() ? empty_list : groups.as_list()) {
    const Value& parent = entry(item.as_dict(), "parent");
    graph.groups.push_back({text_entry(item.as_dict(), "label"),
                            parent.is_null() ? -1 : static_cast<int>(parent.as_int())});
  }
  check_parents(graph);
  for (const Value& item : figure.at("nodes").as_list()) {
    const Value& group = entry(item.as_dict(), "group");
    graph.nodes.push_back(
        {texts_entry(item.as_dict(), "lines"),
         group.is_null() ? -1 : number_below(group, graph.groups.size(), "group")});
  }
  for (const Value& edge : figure.at("edges").as_list())
    graph.edges.emplace_back(number_below(edge.as_list().at(0), graph.nodes.size(), "node"),
                             number_below(edge.as_list().at(1), graph.nodes.size(), "node"));
  if (const std::string direction = text_entry(figure, "direction"); !direction.empty())
    graph.direction = direction;
  if (const std::string& d = graph.direction; d != "TB" && d != "LR" && d != "BT" && d != "RL")
    fail("direction: expected TB, LR, BT or RL, got '", d, "'");
  return graph;
}

}  // namespace crescent::pictures

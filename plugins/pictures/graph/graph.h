// Graphs of boxes with lines of text, in groups within groups.
//
//   "nodes"   each "lines" (texts, the first of which is a heading), "group" (its number)
//   "edges"   lists {from, to} of numbers of nodes
//   "groups"  each "label", "parent" (the number of the group around it)
//   "direction"  TB (from top to bottom, the default), BT, LR, RL
//
// Numbers count from 0.
#pragma once
#include <string>
#include <vector>

#include "crescent/base/value.h"

namespace crescent::pictures {

struct GraphNode {
  std::vector<std::string> lines;
  int group = -1;
};
struct GraphGroup {
  std::string label;
  int parent = -1;
};
struct Graph {
  std::vector<GraphNode> nodes;
  std::vector<std::pair<int, int>> edges;
  std::vector<GraphGroup> groups;
  std::string direction = "TB";

  /// The numbers of the groups that contain a node, from the outermost to the innermost.
  std::vector<int> groups_around(int node) const;
};

/// Reads a graph from a figure; fails for numbers of nodes or groups that do not exist.
Graph graph_from(const Dict& figure);

}  // namespace crescent::pictures

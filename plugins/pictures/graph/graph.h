// Graphs of boxes with lines of text, in groups within groups. The entries of the figure:
//
//   "nodes"      a list, each with "lines" (texts; the first one is a heading) and "group" (the
//                number of its group)
//   "edges"      a list of lists {from, to} of numbers of nodes
//   "groups"     a list, each with "label" and "parent" (the number of the group around it)
//   "direction"  TB (from top to bottom, the default), BT, LR or RL
//
// Nodes and groups are numbered from 0.
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

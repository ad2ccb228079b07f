// Lays out graphs as scenes: each group is laid out separately and is then a box in the group
// around it.
#include <algorithm>
#include <cmath>
#include <map>

#include "crescent/base/error.h"
#include "figure.h"
#include "graph/graph.h"
#include "graph/layered_drawing.h"

namespace crescent::pictures {
namespace {

constexpr Color kHeadingColor{0xdc, 0xe8, 0xf6}, kGroupColor{0x80, 0x80, 0x80};

/// The layout of a group: the positions of its contents relative to its upper left corner, and the
/// points where edges enter and leave the group.
struct LayoutBlock {
  double width = 0, height = 0;
  std::vector<std::pair<int, Point>> nodes;  // upper left corners of nodes
  std::vector<std::pair<int, Box>> frames;   // frames of nested groups
  std::vector<Line> lines;
  // entries: for each edge that enters the group, by number, the x coordinate where it enters;
  // exits: for each node with edges that leave the group, the x coordinate where they leave
  std::map<int, double> entries, exits;
};

/// Exchanges the axes of a point or a size, as is done for graphs that run from left to right.
Point swap_coordinates(Point p) { return {p.y, p.x}; }

class GraphLayout {
 public:
  GraphLayout(Graph graph, const Metrics& metrics)
      : graph_(std::move(graph)),
        metrics_(metrics),
        is_horizontal_(graph_.direction == "LR" || graph_.direction == "RL"),
        is_reversed_(graph_.direction == "BT" || graph_.direction == "RL") {
    std::vector<int> arriving_counts(graph_.nodes.size());
    for (const auto& [from, to] : graph_.edges) ++arriving_counts[static_cast<size_t>(to)];
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      sizes_.push_back(size_of_node(graph_.nodes[i], arriving_counts[i]));
  }

  Scene run() {
    const LayoutBlock layout = block_of(-1);
    const double margin = metrics_.in_cells ? 0 : 12;
    extent_ = {layout.width + 2 * margin, layout.height + 2 * margin};
    const Point size = is_horizontal_ ? swap_coordinates(extent_) : extent_;
    scene_.width = std::max(size.x, 1.0);
    scene_.height = std::max(size.y, 1.0);
    draw(layout, {margin, margin});
    return std::move(scene_);
  }

 private:
  /// The size of the box of a node to which `incoming_count` edges lead. The box has room for the
  /// node's texts and for the ends of edges.
  Point size_of_node(const GraphNode& node, int incoming_count) const {
    double width = 0;
    for (size_t i = 0; i < node.lines.size(); ++i)
      width =
          std::max(width, metrics_.width(node.lines[i]) * (i == 0 && !metrics_.in_cells ? 1.1 : 1));
    const auto lines = static_cast<double>(std::max<size_t>(node.lines.size(), 1));
    Point size{
        width + (metrics_.in_cells ? 4 : 20),
        lines * (metrics_.line_height + (metrics_.in_cells ? 0 : 5)) + (metrics_.in_cells ? 2 : 0)};
    // In terminals the number of cells is odd, because then there is a middle cell.
    if (metrics_.in_cells) size = {size.x + (std::fmod(size.x, 2) == 0), size.y};
    if (metrics_.in_cells && is_horizontal_) {
      size.y = std::max(size.y, incoming_count + 2.0);
      size.y += std::fmod(size.y, 2) == 0;
    }
    return size;
  }

  /// The size of a node in the coordinates of the layout, in which edges run from the top to the
  /// bottom.
  Point extent_of(int node) const {
    const Point size = sizes_[static_cast<size_t>(node)];
    return is_horizontal_ ? swap_coordinates(size) : size;
  }

  Spacing spacing() const {
    if (!metrics_.in_cells) return {};
    if (is_horizontal_)
      return {.items = 1, .layers = 5, .tracks = 2, .ports = 2, .dummies = 1, .in_cells = true};
    return {.items = 3, .layers = 3, .tracks = 1, .ports = 4, .dummies = 2, .in_cells = true};
  }

  bool is_within(int node, int group) const {
    if (group < 0) return true;
    const std::vector<int> containing_groups = graph_.groups_around(node);
    return std::find(containing_groups.begin(), containing_groups.end(), group) !=
           containing_groups.end();
  }

  /// The group directly inside of `group` that contains the node; -1 if there is none.
  int inner_group(int node, int group) const {
    const std::vector<int> containing_groups = graph_.groups_around(node);
    const auto group_position =
        std::find(containing_groups.begin(), containing_groups.end(), group);
    const auto nested = group < 0 ? containing_groups.begin() : group_position + 1;
    return nested == containing_groups.end() ? -1 : *nested;
  }

  /// The data from which the layout of a group (Block) is built.
  struct GroupContents {
    LayeredDrawing drawing;
    // the index in drawing.items of each node, and of each group
    std::map<int, int> node_items, group_items;
    // for each edge that enters the group, the index in drawing.items of the place where it enters
    std::map<int, int> entries;
    // for each node with edges that leave the group, the index of the place where they leave
    std::map<int, int> exits;
    std::map<int, LayoutBlock> blocks;  // the layouts of the groups directly inside of this one
    std::vector<bool> ends_at_node;     // for each edge of the drawing, whether it ends at a node
  };

  LayoutBlock block_of(int group) {
    GroupContents contents{LayeredDrawing(spacing()), {}, {}, {}, {}, {}, {}};
    add_items(contents, group);
    add_edges(contents, group);
    contents.drawing.arrange();
    return finished_block(contents, group);
  }

  void add_items(GroupContents& contents, int group) {
    const auto add = [&](double width, double height, Item::Pin pin = Item::kFree) {
      Item item;
      item.width = width, item.height = height, item.pin = pin;
      contents.drawing.items.push_back(item);
      return static_cast<int>(contents.drawing.items.size()) - 1;
    };
    for (int node = 0; node < static_cast<int>(graph_.nodes.size()); ++node) {
      if (!is_within(node, group)) continue;
      const int nested_group = inner_group(node, group);
      if (nested_group < 0) {
        const Point size = extent_of(node);
        contents.node_items[node] = add(size.x, size.y);
      } else if (!contents.group_items.count(nested_group)) {
        const LayoutBlock& block = contents.blocks[nested_group] = block_of(nested_group);
        contents.group_items[nested_group] = add(block.width, block.height);
      }
    }
    for (int edge = 0; edge < static_cast<int>(graph_.edges.size()); ++edge) {
      const auto [from, to] = graph_.edges[static_cast<size_t>(edge)];
      const bool begins_inside = is_within(from, group), ends_inside = is_within(to, group);
      if (!begins_inside && ends_inside) contents.entries[edge] = add(0, 0, Item::kFirst);
      if (begins_inside && !ends_inside && !contents.exits.count(from))
        contents.exits[from] = add(0, 0, Item::kLast);
    }
  }

  void add_edges(GroupContents& contents, int group) {
    // the nodes from which an edge that leaves the group has already been added
    std::map<int, bool> has_exit;
    for (int edge = 0; edge < static_cast<int>(graph_.edges.size()); ++edge) {
      const auto [from, to] = graph_.edges[static_cast<size_t>(edge)];
      const bool begins_inside = is_within(from, group), ends_inside = is_within(to, group);
      if (!begins_inside && !ends_inside) continue;
      if (begins_inside && !ends_inside && std::exchange(has_exit[from], true)) continue;
      Edge drawn_edge;
      drawn_edge.trunk = begins_inside ? from : static_cast<int>(graph_.nodes.size()) + edge;
      drawn_edge.from =
          begins_inside ? begin_item(contents, from, group, drawn_edge) : contents.entries[edge];
      drawn_edge.to =
          ends_inside ? end_item(contents, edge, to, group, drawn_edge) : contents.exits[from];
      if (drawn_edge.from == drawn_edge.to) continue;
      contents.drawing.edges.push_back(drawn_edge);
      contents.ends_at_node.push_back(ends_inside && inner_group(to, group) < 0);
    }
  }

  int begin_item(GroupContents& contents, int node, int group, Edge& drawn_edge) const {
    const int nested_group = inner_group(node, group);
    if (nested_group < 0) return contents.node_items[node];
    const LayoutBlock& block = contents.blocks[nested_group];
    if (const auto node_exit = block.exits.find(node); node_exit != block.exits.end())
      drawn_edge.start_offset = node_exit->second - block.width / 2;
    return contents.group_items[nested_group];
  }

  int end_item(GroupContents& contents, int edge, int node, int group, Edge& drawn_edge) const {
    const int nested_group = inner_group(node, group);
    if (nested_group < 0) return contents.node_items[node];
    const LayoutBlock& block = contents.blocks[nested_group];
    if (const auto edge_entry = block.entries.find(edge); edge_entry != block.entries.end())
      drawn_edge.end_offset = edge_entry->second - block.width / 2;
    return contents.group_items[nested_group];
  }

  /// The margin between a group's frame and its items, not including the room for its label.
  Point padding(int group) const {
    if (group < 0) return {0, 0};
    if (metrics_.in_cells) return is_horizontal_ ? Point{1, 2} : Point{2, 1};
    return {14, 10};
  }
  double label_room(int group) const {
    return group < 0 || metrics_.in_cells ? 0 : metrics_.line_height + 2;
  }

  LayoutBlock finished_block(GroupContents& contents, int group) {
    LayoutBlock block;
    const Point pad = padding(group);
    // The label is at the top, inside of the frame. In a layout from left to right, whose axes are
    // exchanged at the end, its room is on the left before the exchange.
    const Point offset{pad.x + (is_horizontal_ ? label_room(group) : 0),
                       pad.y + (is_horizontal_ ? 0 : label_room(group))};
    block.width = std::max(contents.drawing.width, min_width(group)) + offset.x + pad.x;
    block.height = contents.drawing.height + offset.y + pad.y;
    if (metrics_.in_cells && group >= 0) block.width += std::fmod(block.width, 2) == 0;
    const auto shift_by_offset = [&](Point p) { return Point{p.x + offset.x, p.y + offset.y}; };
    const auto corner = [&](int item) {
      const Item& i = contents.drawing.items[static_cast<size_t>(item)];
      return shift_by_offset({i.x - i.width / 2, i.top});
    };
    for (const auto& [node, item] : contents.node_items)
      block.nodes.emplace_back(node, corner(item));
    for (const auto& [nested_group, item] : contents.group_items)
      insert_block(block, contents.blocks[nested_group], nested_group, corner(item));
    for (const auto& [edge, item] : contents.entries)
      block.entries[edge] =
          shift_by_offset({contents.drawing.items[static_cast<size_t>(item)].x, 0}).x;
    for (const auto& [node, item] : contents.exits)
      block.exits[node] =
          shift_by_offset({contents.drawing.items[static_cast<size_t>(item)].x, 0}).x;
    for (size_t i = 0; i < contents.drawing.edges.size(); ++i) {
      const Edge& drawn_edge = contents.drawing.edges[i];
      Line line{.points = {}, .is_rule = true, .has_arrow = contents.ends_at_node[i]};
      for (const Point& p : drawn_edge.route) line.points.push_back(shift_by_offset(p));
      // The ends of edges that enter or leave the group are at its frame.
      if (contents.drawing.items[static_cast<size_t>(drawn_edge.from)].pin == Item::kFirst)
        line.points.front().y = 0;
      if (contents.drawing.items[static_cast<size_t>(drawn_edge.to)].pin == Item::kLast)
        line.points.back().y = block.height;
      block.lines.push_back(std::move(line));
    }
    return block;
  }

  /// The least width of a group's frame, so that its label fits.
  double min_width(int group) const {
    if (group < 0 || is_horizontal_) return 0;
    return metrics_.width(graph_.groups[static_cast<size_t>(group)].label);
  }

  static void insert_block(LayoutBlock& block, const LayoutBlock& nested_block, int group,
                           Point at) {
    const auto shift_by_offset = [&](Point p) { return Point{p.x + at.x, p.y + at.y}; };
    block.frames.emplace_back(
        group, Box{.at = at, .width = nested_block.width, .height = nested_block.height});
    for (const auto& [nested_group, frame] : nested_block.frames) {
      block.frames.emplace_back(nested_group, frame);
      block.frames.back().second.at = shift_by_offset(frame.at);
    }
    for (const auto& [node, corner] : nested_block.nodes)
      block.nodes.emplace_back(node, shift_by_offset(corner));
    for (Line line : nested_block.lines) {
      for (Point& p : line.points) p = shift_by_offset(p);
      block.lines.push_back(std::move(line));
    }
  }

  // ---- drawing of a finished layout

  /// Converts a region from layout coordinates to scene coordinates.
  Box to_scene(Point at, Point size) const {
    if (is_reversed_) at.y = extent_.y - at.y - size.y;
    if (is_horizontal_) at = swap_coordinates(at), size = swap_coordinates(size);
    return {.at = at, .width = size.x, .height = size.y};
  }

  void draw(const LayoutBlock& layout, Point margin) {
    const auto shift_by_offset = [&](Point p) { return Point{p.x + margin.x, p.y + margin.y}; };
    for (const auto& [group, frame] : layout.frames)
      draw_frame(group, to_scene(shift_by_offset(frame.at), {frame.width, frame.height}));
    for (Line line : layout.lines) {
      for (Point& p : line.points) p = to_scene(shift_by_offset(p), {0, 0}).at;
      line.width = 1.2;
      scene_.elements.push_back(std::move(line));
    }
    for (const auto& [node, corner] : layout.nodes)
      draw_node(node, to_scene(shift_by_offset(corner), extent_of(node)));
  }

  void draw_frame(int group, Box frame) {
    const std::string& label = graph_.groups[static_cast<size_t>(group)].label;
    frame.kind = BoxKind::frame;
    frame.dashed = true;
    frame.edge = kGroupColor;
    scene_.elements.push_back(frame);
    const double gap = metrics_.in_cells ? 2 : 8;
    scene_.elements.push_back(
        Text{.at = {frame.at.x + gap,
                    frame.at.y + (metrics_.in_cells ? 0.5 : 4 + metrics_.line_height / 2)},
             .text = fitted_text(metrics_, label, frame.width - 2 * gap),
             .color = metrics_.in_cells ? kInk : kGroupColor,
             .bold = true});
  }

  void draw_node(int node_number, Box box) {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(node_number)];
    box.kind = BoxKind::frame;
    box.fill = kWhite;
    box.edge = kInk;
    const double line_height = metrics_.line_height + (metrics_.in_cells ? 0 : 5);
    if (!metrics_.in_cells && !node.lines.empty()) {
      scene_.elements.push_back(box);
      scene_.elements.push_back(Box{.at = box.at,
                                    .width = box.width,
                                    .height = node.lines.size() == 1 ? box.height : line_height,
                                    .fill = kHeadingColor,
                                    .edge = kInk});
    } else {
      scene_.elements.push_back(box);
    }
    double middle = box.at.y + (metrics_.in_cells ? 1 : 0) + line_height / 2;
    for (size_t i = 0; i < node.lines.size(); ++i, middle += line_height)
      scene_.elements.push_back(Text{.at = {box.at.x + box.width / 2, middle},
                                     .text = node.lines[i],
                                     .anchor = Anchor::middle,
                                     .bold = i == 0});
  }

  const Graph graph_;
  const Metrics& metrics_;
  const bool is_horizontal_, is_reversed_;
  std::vector<Point> sizes_;
  Point extent_;
  Scene scene_;
};

}  // namespace

Scene layout_graph(const Dict& figure, const Metrics& metrics, Size) {
  return GraphLayout(graph_from(figure), metrics).run();
}

}  // namespace crescent::pictures

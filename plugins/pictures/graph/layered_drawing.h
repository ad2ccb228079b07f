// Layered drawing of a directed graph (Sugiyama, Tagawa and Toda 1981): layers by longest paths,
// order within layers by barycenters, positions by least squares, edges as horizontal and vertical
// segments. All edges run from the top to the bottom.
#pragma once
#include <optional>
#include <vector>

#include "scene/scene.h"

namespace crescent::pictures {

/// An item of the drawing: a box, or a dummy at which an edge passes through a layer.
struct Item {
  double width = 0, height = 0;
  /// Whether the item must be in the first or the last layer.
  enum Pin { kFree, kFirst, kLast } pin = kFree;
  bool is_dummy = false;
  int layer = 0;
  double x = 0;  ///< the position of the centre
  double top = 0;
};

/// An edge between items. Edges that begin at the same item and have the same trunk begin at the
/// same point.
struct Edge {
  int from = 0, to = 0;
  /// The horizontal distances of the edge's ends from the centres of its items; nullopt if they may
  /// be chosen.
  std::optional<double> start_offset = {}, end_offset = {};
  int trunk = 0;
  bool is_reversed = false;  ///< whether the edge was reversed to break a cycle
  std::vector<Point> route = {};
};

/// The least distances between elements of a drawing: adjacent items, layers, tracks (the
/// horizontal parts of edges), ports (the ends of edges at a box) and dummies.
struct Spacing {
  double items = 24, layers = 34, tracks = 11, ports = 14, dummies = 12;
  bool in_cells = false;  ///< whether positions must be centres of terminal cells
};

/// The drawing of the items of a graph, or of one group of it, and of the edges between the items.
class LayeredDrawing {
 public:
  explicit LayeredDrawing(const Spacing& spacing) : spacing_(spacing) {}
  std::vector<Item> items;
  std::vector<Edge> edges;
  double width = 0, height = 0;

  /// Computes the positions of items and the lines of edges.
  void arrange();

 private:
  struct Segment;  // the part of an edge between adjacent layers
  struct Bundle;   // segments that begin at the same point
  void break_cycles();
  void assign_layers();
  void add_dummies();
  int add_dummy(int layer);
  Segment segment_of(int edge_number, int from, int to) const;
  void record_segments();
  void order_layers();
  void fill_layers();
  void sweep(bool downwards);
  std::vector<std::pair<double, double>> ends_below(const std::vector<int>& layer) const;
  int crossings() const;
  double barycenter(int item, bool from_above, double position) const;
  void sort_layer(std::vector<int>& layer, bool from_above);
  void choose_x_positions();
  void place_side_by_side();
  void move_to_preferred_positions(const std::vector<int>& layer, bool from_above);
  void round_positions();
  void choose_ports();
  void choose_ports_of(size_t item_index);
  std::vector<Segment*> free_segments(size_t item_index);
  void choose_y_positions();
  double max_height_in(const std::vector<int>& layer) const;
  void place_layer(const std::vector<int>& layer, double top, double layer_height);
  std::vector<Bundle> bundles_below(int layer);
  int assign_tracks(int layer);
  void route_segment(const Segment& segment);
  void route_edges();
  double begin_x(const Segment& segment) const;
  double end_x(const Segment& segment) const;
  double distance(int left_item, int right_item) const;
  double preferred_x(int item_number, bool from_above) const;
  std::vector<Segment*> segments_after(int layer);

  const Spacing spacing_;
  std::vector<std::vector<int>> layers_;  // the items of each layer from left to right
  std::vector<Segment> segments_;
  // for each item, the segments that end at it (above) and those that begin at it (below)
  std::vector<std::vector<int>> segments_above_, segments_below_;
  std::vector<double> bottoms_;  // y coordinates of the lower ends of layers
};

struct LayeredDrawing::Segment {
  int from = 0, to = 0, edge = 0;
  // the horizontal distances of the segment's ends from the centres of its items
  double start_offset = 0, end_offset = 0;
  bool is_end_fixed = false;
  int track = -1;  // the track of the segment's horizontal part; -1 if the segment is straight
  int trunk = 0;
};

struct LayeredDrawing::Bundle {
  double start_x = 0, min_x = 0, max_x = 0;
  std::vector<Segment*> segments;
  std::vector<double> ends_x;
  int track = -1;
  bool goes_right() const { return max_x - start_x > start_x - min_x; }
  /// Whether a segment of the bundle ends less than `tolerance` from x.
  bool ends_at(double x, double tolerance) const;
  int track_below(const std::vector<Bundle>& other_bundles, double tolerance) const;
};

}  // namespace crescent::pictures

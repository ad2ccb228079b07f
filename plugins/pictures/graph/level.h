// Layered drawing of a directed graph (Sugiyama, Tagawa and Toda 1981): layers by longest paths,
// order within layers by barycentres, places by least squares, edges in horizontal and vertical
// pieces. Everything goes from the top to the bottom.
#pragma once
#include <optional>
#include <vector>

#include "scene/scene.h"

namespace crescent::pictures {

/// What has a place: a box, or a bend of an edge that passes through a layer.
struct Item {
  double width = 0, height = 0;
  enum Pin { kFree, kFirst, kLast } pin = kFree;  ///< whether it is in the first or last layer
  bool bend = false;
  int layer = 0;
  double x = 0;  ///< of the middle
  double top = 0;
};

/// An edge between items. Links of one item with one trunk begin together.
struct Link {
  int from = 0, to = 0;
  std::optional<double> out = {}, in = {};  ///< where it begins and ends, from the middle of items
  int trunk = 0;
  bool turned = false;  ///< its items were exchanged, against a cycle
  std::vector<Point> route = {};
};

struct Spacing {
  double items = 24, layers = 34, tracks = 11, ports = 14, bends = 12;
  bool cells = false;  ///< places are the middles of cells
};

class Level {
 public:
  explicit Level(const Spacing& spacing) : spacing_(spacing) {}
  std::vector<Item> items;
  std::vector<Link> links;
  double width = 0, height = 0;

  /// Places the items and routes the links.
  void arrange();

 private:
  struct Piece;   // of a link, between layers that follow each other
  struct Bundle;  // pieces that begin together
  void turn_cycles();
  void assign_layers();
  void add_bends();
  int add_bend(int layer);
  Piece piece_of(int number, int from, int to) const;
  void note_pieces();
  void order_layers();
  void fill_layers();
  void sweep(bool downwards);
  std::vector<std::pair<double, double>> ends_below(const std::vector<int>& layer) const;
  int crossings() const;
  double mean_place(int item, bool from_above, double place) const;
  void sort_layer(std::vector<int>& layer, bool from_above);
  void place_across();
  void line_up();
  void settle_layer(const std::vector<int>& layer, bool from_above);
  void snap();
  void choose_ports();
  void choose_ports_of(size_t number);
  std::vector<Piece*> free_pieces(size_t number);
  void place_along();
  double highest_in(const std::vector<int>& layer) const;
  void place_layer(const std::vector<int>& layer, double top, double highest);
  std::vector<Bundle> bundles_below(int layer);
  int assign_tracks(int layer);
  void route_piece(const Piece& piece);
  void route_links();
  double begin_of(const Piece& piece) const;
  double end_of(const Piece& piece) const;
  double distance(int left, int right) const;
  double wish(int item, bool from_above) const;
  std::vector<Piece*> pieces_after(int layer);

  const Spacing spacing_;
  std::vector<std::vector<int>> layers_;  // items from left to right
  std::vector<Piece> pieces_;
  std::vector<std::vector<int>> above_, below_;  // pieces that end at, and begin at, an item
  std::vector<double> bottoms_;                  // of layers
};

struct Level::Piece {
  int from = 0, to = 0, link = 0;
  double out = 0, in = 0;  // from the middle of the items
  bool fixed_in = false;
  int track = -1;  // -1: straight
  int trunk = 0;
};

struct Level::Bundle {
  double begin = 0, least = 0, most = 0;
  std::vector<Piece*> pieces;
  std::vector<double> ends;
  int track = -1;
  bool goes_right() const { return most - begin > begin - least; }
  /// Whether a piece ends there, or as near as makes no difference.
  bool ends_at(double x, double near) const;
  int track_below(const std::vector<Bundle>& others, double near) const;
};

}  // namespace crescent::pictures

// Assigns the items of a graph to layers, and orders the items of each layer.
#include <algorithm>

#include "graph/layered_drawing.h"

namespace crescent::pictures {
namespace {

using IndexLists = std::vector<std::vector<int>>;

/// A depth-first search along edges, started at every item that has not been visited.
class CycleSearch {
 public:
  CycleSearch(size_t items, std::vector<Edge>& edges)
      : edges_(edges), outgoing_(items), states_(items, kNew) {
    for (size_t i = 0; i < edges.size(); ++i)
      outgoing_[static_cast<size_t>(edges[i].from)].push_back(i);
  }

  /// Marks back edges: those that lead to an item on the present path of the search.
  void mark() {
    for (size_t start_item = 0; start_item < states_.size(); ++start_item) {
      if (states_[start_item] == kNew) enter(start_item);
      while (!path_.empty()) advance();
    }
  }

 private:
  enum State { kNew, kOpen, kDone };
  struct Visit {
    size_t item, next_edge;
  };

  void enter(size_t item) {
    states_[item] = kOpen;
    path_.push_back({item, 0});
  }

  void advance() {
    Visit& visit = path_.back();
    if (visit.next_edge < outgoing_[visit.item].size())
      return follow(edges_[outgoing_[visit.item][visit.next_edge++]]);
    states_[visit.item] = kDone;
    path_.pop_back();
  }

  void follow(Edge& edge) {
    const auto to = static_cast<size_t>(edge.to);
    if (states_[to] == kOpen) edge.is_reversed = true;
    if (states_[to] == kNew) enter(to);
  }

  std::vector<Edge>& edges_;
  std::vector<std::vector<size_t>> outgoing_;
  std::vector<State> states_;
  std::vector<Visit> path_;
};

/// For each item, the items to which its edges lead.
IndexLists successors(size_t items, const std::vector<Edge>& edges) {
  IndexLists result(items);
  for (const Edge& edge : edges) result[static_cast<size_t>(edge.from)].push_back(edge.to);
  return result;
}

/// The number of edges that lead to each item.
std::vector<int> predecessor_counts(size_t items, const std::vector<Edge>& edges) {
  std::vector<int> incoming_counts(items);
  for (const Edge& edge : edges) ++incoming_counts[static_cast<size_t>(edge.to)];
  return incoming_counts;
}

/// Sets each item's layer to the first layer that it may have: 0, or 1 if other items are pinned to
/// the first layer.
void set_first_layers(std::vector<Item>& items) {
  const bool has_pinned_first = std::any_of(
      items.begin(), items.end(), [](const Item& item) { return item.pin == Item::kFirst; });
  for (Item& item : items) item.layer = has_pinned_first && item.pin != Item::kFirst ? 1 : 0;
}

/// Moves each item below all of its predecessors; returns the items in topological order.
/// `unplaced_predecessors` is the number of predecessors of each item at the start.
std::vector<int> place_below_predecessors(std::vector<Item>& items,
                                          const IndexLists& successor_lists,
                                          std::vector<int> unplaced_predecessors) {
  std::vector<int> ready, sorted;
  for (size_t i = 0; i < items.size(); ++i)
    if (unplaced_predecessors[i] == 0) ready.push_back(static_cast<int>(i));
  while (!ready.empty()) {
    const int item = ready.back();
    ready.pop_back();
    sorted.push_back(item);
    for (const int successor : successor_lists[static_cast<size_t>(item)]) {
      int& layer = items[static_cast<size_t>(successor)].layer;
      layer = std::max(layer, items[static_cast<size_t>(item)].layer + 1);
      if (--unplaced_predecessors[static_cast<size_t>(successor)] == 0) ready.push_back(successor);
    }
  }
  return sorted;
}

/// Moves an item to the layer just above its highest successor.
void raise_to_successors(std::vector<Item>& items, size_t item,
                         const std::vector<int>& successor_items) {
  int min_layer = -1;
  for (const int successor : successor_items) {
    const int layer = items[static_cast<size_t>(successor)].layer;
    if (min_layer < 0 || layer < min_layer) min_layer = layer;
  }
  if (min_layer > 0) items[item].layer = min_layer - 1;
}

}  // namespace

/// Reverses back edges, so that the graph has no cycles.
void LayeredDrawing::break_cycles() {
  CycleSearch(items.size(), edges).mark();
  for (Edge& edge : edges)
    if (edge.is_reversed)
      std::swap(edge.from, edge.to), std::swap(edge.end_offset, edge.start_offset);
}

/// Assigns layers: an item is below all of its predecessors; an item without predecessors is just
/// above its successors.
void LayeredDrawing::assign_layers() {
  const IndexLists successor_lists = successors(items.size(), edges);
  const std::vector<int> incoming_counts = predecessor_counts(items.size(), edges);
  set_first_layers(items);
  int last_layer = 0;
  for (const int i : place_below_predecessors(items, successor_lists, incoming_counts)) {
    const auto item_index = static_cast<size_t>(i);
    const Item& item = items[item_index];
    last_layer = std::max(last_layer, item.layer + (item.pin == Item::kLast ? 0 : 1));
    if (incoming_counts[item_index] == 0 && item.pin == Item::kFree)
      raise_to_successors(items, item_index, successor_lists[item_index]);
  }
  for (Item& item : items)
    if (item.pin == Item::kLast) item.layer = last_layer;
}

/// Adds a dummy item for an edge in a layer that the edge only crosses.
int LayeredDrawing::add_dummy(int layer) {
  Item dummy;
  dummy.is_dummy = true;
  dummy.layer = layer;
  items.push_back(dummy);
  return static_cast<int>(items.size()) - 1;
}

/// Returns the segment of an edge between two items. A segment that begins at a dummy item has a
/// trunk of its own, with a negative number.
LayeredDrawing::Segment LayeredDrawing::segment_of(int edge_number, int from, int to) const {
  const Edge& edge = edges[static_cast<size_t>(edge_number)];
  Segment segment;
  segment.from = from, segment.to = to, segment.edge = edge_number;
  segment.trunk = items[static_cast<size_t>(from)].is_dummy ? -1 - from : edge.trunk;
  if (from == edge.from && edge.start_offset) segment.start_offset = *edge.start_offset;
  if (to == edge.to && edge.end_offset)
    segment.end_offset = *edge.end_offset, segment.is_end_fixed = true;
  return segment;
}

/// Splits edges into segments between adjacent layers, by dummy items.
void LayeredDrawing::add_dummies() {
  for (size_t i = 0; i < edges.size(); ++i) {
    int from = edges[i].from;
    const int last_layer = items[static_cast<size_t>(edges[i].to)].layer;
    for (int layer = items[static_cast<size_t>(from)].layer + 1; layer <= last_layer; ++layer) {
      const int to = layer < last_layer ? add_dummy(layer) : edges[i].to;
      segments_.push_back(segment_of(static_cast<int>(i), from, to));
      from = to;
    }
  }
  record_segments();
}

/// Records for each item the segments that end at it and those that begin at it.
void LayeredDrawing::record_segments() {
  segments_above_.resize(items.size());
  segments_below_.resize(items.size());
  for (size_t i = 0; i < segments_.size(); ++i) {
    segments_below_[static_cast<size_t>(segments_[i].from)].push_back(static_cast<int>(i));
    segments_above_[static_cast<size_t>(segments_[i].to)].push_back(static_cast<int>(i));
  }
}

/// The barycenter of an item: the mean position of its neighbours in the layer above or below, as
/// `from_above` says; `position` if it has no neighbours there.
double LayeredDrawing::barycenter(int item, bool from_above, double position) const {
  const std::vector<int>& neighbour_segments =
      (from_above ? segments_above_ : segments_below_)[static_cast<size_t>(item)];
  double sum = 0;
  for (const int k : neighbour_segments) {
    const Segment& segment = segments_[static_cast<size_t>(k)];
    const Item& neighbour = items[static_cast<size_t>(from_above ? segment.from : segment.to)];
    const double width = std::max(neighbour.width, 1.0);
    sum += neighbour.x + 0.5 * (from_above ? segment.start_offset : segment.end_offset) / width;
  }
  return neighbour_segments.empty() ? position
                                    : sum / static_cast<double>(neighbour_segments.size());
}

/// Sorts a layer by the barycenters of its items.
void LayeredDrawing::sort_layer(std::vector<int>& layer, bool from_above) {
  std::vector<double> barycenters(items.size());
  for (size_t i = 0; i < layer.size(); ++i)
    barycenters[static_cast<size_t>(layer[i])] =
        barycenter(layer[i], from_above, static_cast<double>(i));
  std::stable_sort(layer.begin(), layer.end(), [&](int a, int b) {
    return barycenters[static_cast<size_t>(a)] < barycenters[static_cast<size_t>(b)];
  });
  for (size_t i = 0; i < layer.size(); ++i)
    items[static_cast<size_t>(layer[i])].x = static_cast<double>(i);
}

/// For each segment below a layer, the positions at which it begins and ends.
std::vector<std::pair<double, double>> LayeredDrawing::ends_below(
    const std::vector<int>& layer) const {
  std::vector<std::pair<double, double>> segment_ends;
  for (const int item : layer)
    for (const int k : segments_below_[static_cast<size_t>(item)]) {
      const Segment& segment = segments_[static_cast<size_t>(k)];
      segment_ends.emplace_back(items[static_cast<size_t>(segment.from)].x,
                                items[static_cast<size_t>(segment.to)].x);
    }
  return segment_ends;
}

/// The number of pairs of segments that cross when each item has the position that it has in the
/// order of its layer.
int LayeredDrawing::crossings() const {
  int count = 0;
  for (const std::vector<int>& layer : layers_) {
    const auto segment_ends = ends_below(layer);
    for (size_t a = 0; a < segment_ends.size(); ++a)
      for (size_t b = a + 1; b < segment_ends.size(); ++b)
        count += (segment_ends[a].first - segment_ends[b].first) *
                     (segment_ends[a].second - segment_ends[b].second) <
                 0;
  }
  return count;
}

/// Fills the layers with their items, in the order of item numbers.
void LayeredDrawing::fill_layers() {
  int last_layer = 0;
  for (const Item& item : items) last_layer = std::max(last_layer, item.layer);
  layers_.resize(static_cast<size_t>(last_layer) + 1);
  for (size_t i = 0; i < items.size(); ++i) {
    std::vector<int>& layer = layers_[static_cast<size_t>(items[i].layer)];
    items[i].x = static_cast<double>(layer.size());
    layer.push_back(static_cast<int>(i));
  }
}

/// Sorts all layers, one after another, by the barycenters in the layer before: from the top to the
/// bottom, or back.
void LayeredDrawing::sweep(bool downwards) {
  if (downwards)
    for (size_t i = 1; i < layers_.size(); ++i) sort_layer(layers_[i], true);
  else
    for (size_t i = layers_.size() - 1; i-- > 0;) sort_layer(layers_[i], false);
}

/// Makes several sweeps downwards and upwards and keeps the order with the fewest crossings.
void LayeredDrawing::order_layers() {
  constexpr int kSweeps = 12;
  fill_layers();
  std::vector<std::vector<int>> best_layers = layers_;
  int min_crossings = crossings();
  for (int i = 0; i < kSweeps && min_crossings > 0; ++i) {
    sweep(i % 2 == 0);
    if (const int count = crossings(); count < min_crossings)
      min_crossings = count, best_layers = layers_;
  }
  layers_ = best_layers;
}

}  // namespace crescent::pictures

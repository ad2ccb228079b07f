// Positions items within layers, and routes edges.
#include <algorithm>
#include <cmath>
#include <map>

#include "graph/layered_drawing.h"

namespace crescent::pictures {
namespace {

/// A block of the pool-adjacent-violators algorithm: values that are all replaced by their weighted
/// mean.
struct Pool {
  double mean, weight;
  size_t count;
};

Pool join_pools(const Pool& left, const Pool& right) {
  const double weight = left.weight + right.weight;
  return {(left.mean * left.weight + right.mean * right.weight) / weight, weight,
          left.count + right.count};
}

/// The ascending numbers whose weighted squared distance from `preferred_positions` is least, found
/// by the pool-adjacent-violators algorithm (isotonic regression).
std::vector<double> isotonic_regression(const std::vector<double>& preferred_positions,
                                        const std::vector<double>& weights) {
  std::vector<Pool> pools;
  for (size_t i = 0; i < preferred_positions.size(); ++i) {
    Pool merged_pool{preferred_positions[i], weights[i], 1};
    for (; !pools.empty() && pools.back().mean > merged_pool.mean; pools.pop_back())
      merged_pool = join_pools(pools.back(), merged_pool);
    pools.push_back(merged_pool);
  }
  std::vector<double> result;
  for (const Pool& pool : pools) result.insert(result.end(), pool.count, pool.mean);
  return result;
}

/// The positions, at least `distances` apart, whose weighted squared distance from
/// `preferred_positions` is least.
std::vector<double> spaced_positions(const std::vector<double>& preferred_positions,
                                     const std::vector<double>& weights,
                                     const std::vector<double>& distances) {
  std::vector<double> shifts{0}, relative_positions;
  for (const double distance : distances) shifts.push_back(shifts.back() + distance);
  for (size_t i = 0; i < preferred_positions.size(); ++i)
    relative_positions.push_back(preferred_positions[i] - shifts[i]);
  std::vector<double> positions = isotonic_regression(relative_positions, weights);
  for (size_t i = 0; i < positions.size(); ++i) positions[i] += shifts[i];
  return positions;
}

/// The shift that moves the positions into the range from `min` to `max` if they exceed it at
/// one end.
double shift_into(const std::vector<double>& positions, double min, double max) {
  if (positions.back() > max) return max - positions.back();
  return positions[0] < min ? min - positions[0] : 0;
}

}  // namespace

/// The least distance between the centres of two neighbouring items.
double LayeredDrawing::distance(int left, int right) const {
  const Item &a = items[static_cast<size_t>(left)], &b = items[static_cast<size_t>(right)];
  const double gap = a.is_dummy || b.is_dummy ? spacing_.dummies : spacing_.items;
  return (a.width + b.width) / 2 + gap;
}

/// The preferred position of an item: the weighted mean of the positions at which its segments are
/// straight. Segments between two dummies have a higher weight, so that long edges become straight.
double LayeredDrawing::preferred_x(int item_number, bool from_above) const {
  const auto item = static_cast<size_t>(item_number);
  double sum = 0, weight_sum = 0;
  for (const int k : from_above ? segments_above_[item] : segments_below_[item]) {
    const Segment& segment = segments_[static_cast<size_t>(k)];
    const Item& neighbour = items[static_cast<size_t>(from_above ? segment.from : segment.to)];
    const double shift = from_above ? segment.start_offset - segment.end_offset
                                    : segment.end_offset - segment.start_offset;
    const double weight = neighbour.is_dummy && items[item].is_dummy ? 8
                          : neighbour.is_dummy                       ? 0.5
                                                                     : 1;
    sum += weight * (neighbour.x + shift);
    weight_sum += weight;
  }
  return weight_sum > 0 ? sum / weight_sum : items[item].x;
}

void LayeredDrawing::move_to_preferred_positions(const std::vector<int>& layer, bool from_above) {
  std::vector<double> preferred_positions, weights, distances;
  for (size_t i = 0; i < layer.size(); ++i) {
    const auto item = static_cast<size_t>(layer[i]);
    const bool has_segments = !(from_above ? segments_above_[item] : segments_below_[item]).empty();
    preferred_positions.push_back(preferred_x(layer[i], from_above));
    weights.push_back(items[item].is_dummy ? 4 : has_segments ? 1 : 0.1);
    if (i > 0) distances.push_back(distance(layer[i - 1], layer[i]));
  }
  const std::vector<double> positions = spaced_positions(preferred_positions, weights, distances);
  for (size_t i = 0; i < layer.size(); ++i) items[static_cast<size_t>(layer[i])].x = positions[i];
}

/// Sets the first positions: the items of each layer stand side by side.
void LayeredDrawing::place_side_by_side() {
  for (const std::vector<int>& layer : layers_) {
    double x = 0;
    for (size_t i = 0; i < layer.size(); ++i) {
      if (i > 0) x += distance(layer[i - 1], layer[i]);
      items[static_cast<size_t>(layer[i])].x = x;
    }
  }
}

void LayeredDrawing::choose_x_positions() {
  constexpr int kSweeps = 24;
  place_side_by_side();
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (size_t i = 1; i < layers_.size(); ++i) move_to_preferred_positions(layers_[i], true);
    for (size_t i = layers_.size(); i-- > 1;) move_to_preferred_positions(layers_[i - 1], false);
  }
  for (size_t i = 1; i < layers_.size(); ++i) move_to_preferred_positions(layers_[i], true);
  round_positions();
}

/// Shifts all items so that the leftmost one is at x = 0, and rounds positions to terminal cells or
/// half pixels.
void LayeredDrawing::round_positions() {
  double left_end = INFINITY;
  for (const Item& item : items) left_end = std::min(left_end, item.x - item.width / 2);
  const double step = spacing_.in_cells ? 1 : 0.5;
  for (const std::vector<int>& layer : layers_) {
    for (size_t i = 0; i < layer.size(); ++i) {
      Item& item = items[static_cast<size_t>(layer[i])];
      item.x = std::floor((item.x - left_end) / step) * step + (spacing_.in_cells ? 0.5 : 0);
      if (i == 0) continue;
      const Item& previous_item = items[static_cast<size_t>(layer[i - 1])];
      item.x = std::max(item.x, previous_item.x + std::ceil(distance(layer[i - 1], layer[i])));
    }
  }
  width = 0;
  for (const Item& item : items) width = std::max(width, item.x + item.width / 2);
}

double LayeredDrawing::begin_x(const Segment& segment) const {
  return items[static_cast<size_t>(segment.from)].x + segment.start_offset;
}

double LayeredDrawing::end_x(const Segment& segment) const {
  return items[static_cast<size_t>(segment.to)].x + segment.end_offset;
}

/// The segments that may end anywhere on the top of an item, sorted by the positions at which they
/// begin.
std::vector<LayeredDrawing::Segment*> LayeredDrawing::free_segments(size_t item_index) {
  std::vector<Segment*> movable_segments;
  for (const int k : segments_above_[item_index])
    if (!segments_[static_cast<size_t>(k)].is_end_fixed)
      movable_segments.push_back(&segments_[static_cast<size_t>(k)]);
  std::stable_sort(movable_segments.begin(), movable_segments.end(),
                   [&](const Segment* a, const Segment* b) { return begin_x(*a) < begin_x(*b); });
  return movable_segments;
}

/// Chooses where segments end on the top of a box: each as near as possible to the position at
/// which it begins, but with a least distance between them.
void LayeredDrawing::choose_ports_of(size_t item_index) {
  const Item& item = items[item_index];
  const std::vector<Segment*> movable_segments = free_segments(item_index);
  if (movable_segments.empty()) return;
  // the least distance between the end of an edge and the corners of the box
  const double margin = spacing_.in_cells ? 1.5 : std::min(item.width / 2, spacing_.ports / 2);
  const double min = item.x - item.width / 2 + margin, max = item.x + item.width / 2 - margin;
  const double gap =
      std::min(spacing_.ports,
               (item.width - 2 * margin) / std::max<double>(1, movable_segments.size() - 1.0));
  std::vector<double> preferred_positions;
  for (const Segment* segment : movable_segments)
    preferred_positions.push_back(std::clamp(begin_x(*segment), min, max));
  const std::vector<double> positions =
      spaced_positions(preferred_positions, std::vector<double>(movable_segments.size(), 1),
                       std::vector(movable_segments.size() - 1, gap));
  const double shift = shift_into(positions, 2 * item.x - max, max);
  for (size_t k = 0; k < movable_segments.size(); ++k) {
    const double x = positions[k] + shift;
    movable_segments[k]->end_offset = (spacing_.in_cells ? std::floor(x) + 0.5 : x) - item.x;
  }
}

void LayeredDrawing::choose_ports() {
  for (size_t i = 0; i < items.size(); ++i)
    if (!items[i].is_dummy && items[i].width > 0) choose_ports_of(i);
}

std::vector<LayeredDrawing::Segment*> LayeredDrawing::segments_after(int layer) {
  std::vector<Segment*> segments;
  for (const int item : layers_[static_cast<size_t>(layer)])
    for (const int k : segments_below_[static_cast<size_t>(item)])
      segments.push_back(&segments_[static_cast<size_t>(k)]);
  return segments;
}

bool LayeredDrawing::Bundle::ends_at(double x, double tolerance) const {
  return std::any_of(ends_x.begin(), ends_x.end(),
                     [&](double end) { return std::abs(end - x) < tolerance; });
}

/// The bundles of those segments below a layer that are not straight. Bundles that go to the right
/// are sorted from the right, the others from the left, so that they are nested.
std::vector<LayeredDrawing::Bundle> LayeredDrawing::bundles_below(int layer) {
  std::map<int, Bundle> by_trunk;
  for (Segment* segment : segments_after(layer)) {
    const double begin = begin_x(*segment), end = end_x(*segment);
    if (std::abs(begin - end) < 0.25) continue;
    Bundle& bundle = by_trunk[segment->trunk];
    if (bundle.segments.empty()) bundle.start_x = bundle.min_x = bundle.max_x = begin;
    bundle.min_x = std::min(bundle.min_x, end);
    bundle.max_x = std::max(bundle.max_x, end);
    bundle.segments.push_back(segment);
    bundle.ends_x.push_back(end);
  }
  std::vector<Bundle> bundles;
  for (auto& [trunk, bundle] : by_trunk) bundles.push_back(std::move(bundle));
  std::stable_sort(bundles.begin(), bundles.end(), [](const Bundle& a, const Bundle& b) {
    if (a.goes_right() != b.goes_right()) return a.goes_right();
    return a.goes_right() ? a.start_x > b.start_x : a.start_x < b.start_x;
  });
  return bundles;
}

/// Assigns tracks, numbered downwards, to the horizontal parts of the segments below a layer, so
/// that neither horizontal nor vertical parts overlap: a segment that ends at the position at which
/// another one begins gets a track below the track of the other. Returns the number of tracks.
int LayeredDrawing::assign_tracks(int layer) {
  const double tolerance = spacing_.in_cells ? 0.9 : 0.75 * spacing_.dummies;
  std::vector<Bundle> waiting_bundles = bundles_below(layer), placed_bundles;
  const auto is_next = [&](const Bundle& bundle) {
    return std::none_of(waiting_bundles.begin(), waiting_bundles.end(), [&](const Bundle& other) {
      return &other != &bundle && bundle.ends_at(other.start_x, tolerance);
    });
  };
  int track_count = 0;
  while (!waiting_bundles.empty()) {
    auto next_bundle = std::find_if(waiting_bundles.begin(), waiting_bundles.end(), is_next);
    if (next_bundle == waiting_bundles.end()) next_bundle = waiting_bundles.begin();
    Bundle bundle = std::move(*next_bundle);
    waiting_bundles.erase(next_bundle);
    bundle.track = bundle.track_below(placed_bundles, tolerance);
    for (Segment* segment : bundle.segments) segment->track = bundle.track;
    track_count = std::max(track_count, bundle.track + 1);
    placed_bundles.push_back(std::move(bundle));
  }
  return track_count;
}

/// The first track below the tracks of those bundles in `other_bundles` that this bundle would
/// overlap.
int LayeredDrawing::Bundle::track_below(const std::vector<Bundle>& other_bundles,
                                        double tolerance) const {
  int first_free_track = 0;
  for (const Bundle& other : other_bundles) {
    const bool overlaps = other.min_x - tolerance < max_x && min_x - tolerance < other.max_x;
    if (overlaps || ends_at(other.start_x, tolerance))
      first_free_track = std::max(first_free_track, other.track + 1);
  }
  return first_free_track;
}

double LayeredDrawing::max_height_in(const std::vector<int>& layer) const {
  double layer_height = 0;
  for (const int item : layer)
    layer_height = std::max(layer_height, items[static_cast<size_t>(item)].height);
  return layer_height;
}

/// Sets the vertical positions of a layer: boxes are in the middle of the layer, and dummies span
/// its whole height.
void LayeredDrawing::place_layer(const std::vector<int>& layer, double top, double layer_height) {
  for (const int k : layer) {
    Item& item = items[static_cast<size_t>(k)];
    const double free_height = layer_height - item.height;
    item.top = top + (spacing_.in_cells ? std::floor(free_height / 2) : free_height / 2);
    if (item.is_dummy) item.top = top, item.height = layer_height;
  }
}

void LayeredDrawing::choose_y_positions() {
  double y = 0;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const double layer_height = max_height_in(layers_[i]);
    place_layer(layers_[i], y, layer_height);
    bottoms_.push_back(y + layer_height);
    y += layer_height;
    if (i + 1 == layers_.size()) break;
    const int track_count = assign_tracks(static_cast<int>(i));
    y += spacing_.layers + std::max(0, track_count - 1) * spacing_.tracks;
  }
  height = y;
}

void LayeredDrawing::route_segment(const Segment& segment) {
  const Item &from = items[static_cast<size_t>(segment.from)],
             &to = items[static_cast<size_t>(segment.to)];
  std::vector<Point>& route = edges[static_cast<size_t>(segment.edge)].route;
  const Point begin{begin_x(segment), from.top + from.height}, end{end_x(segment), to.top};
  if (route.empty()) route.push_back(begin);
  if (segment.track >= 0) {
    const double first_track_distance = spacing_.in_cells ? 0.5 : spacing_.layers / 2 - 4;
    const double y = bottoms_[static_cast<size_t>(from.layer)] + first_track_distance +
                     segment.track * spacing_.tracks;
    route.push_back({begin.x, y});
    route.push_back({end.x, y});
  }
  route.push_back(end);
}

/// Connects the segments of each edge to a line.
void LayeredDrawing::route_edges() {
  for (const Segment& segment : segments_) route_segment(segment);
  for (Edge& edge : edges)
    if (edge.is_reversed) std::reverse(edge.route.begin(), edge.route.end());
}

void LayeredDrawing::arrange() {
  break_cycles();
  assign_layers();
  add_dummies();
  order_layers();
  choose_x_positions();
  choose_ports();
  choose_y_positions();
  route_edges();
}

}  // namespace crescent::pictures

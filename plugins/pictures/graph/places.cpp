// Where the items of layers are, and how links go between them.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "graph/level.h"

namespace crescent::pictures {
namespace {

/// The numbers in rising order that are nearest to `wishes` (pool adjacent violators).
std::vector<double> rising(const std::vector<double>& wishes, const std::vector<double>& weights) {
  struct Pool {
    double mean, weight;
    size_t count;
  };
  std::vector<Pool> pools;
  for (size_t i = 0; i < wishes.size(); ++i) {
    pools.push_back({wishes[i], weights[i], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean > pools.back().mean) {
      const Pool right = pools.back();
      pools.pop_back();
      Pool& left = pools.back();
      left.mean =
          (left.mean * left.weight + right.mean * right.weight) / (left.weight + right.weight);
      left.weight += right.weight;
      left.count += right.count;
    }
  }
  std::vector<double> result;
  for (const Pool& pool : pools) result.insert(result.end(), pool.count, pool.mean);
  return result;
}

/// The places nearest to the wishes that keep the distances.
std::vector<double> spread(const std::vector<double>& wishes, const std::vector<double>& weights,
                           const std::vector<double>& distances) {
  std::vector<double> shifts{0}, relative;
  for (const double distance : distances) shifts.push_back(shifts.back() + distance);
  for (size_t i = 0; i < wishes.size(); ++i) relative.push_back(wishes[i] - shifts[i]);
  std::vector<double> places = rising(relative, weights);
  for (size_t i = 0; i < places.size(); ++i) places[i] += shifts[i];
  return places;
}

}  // namespace

/// Between the middles of two items that stand side by side.
double Level::distance(int left, int right) const {
  const Item &a = items[static_cast<size_t>(left)], &b = items[static_cast<size_t>(right)];
  const double gap = a.bend || b.bend ? spacing_.bends : spacing_.items;
  return (a.width + b.width) / 2 + gap;
}

/// The mean of the places that make the pieces of an item straight; those of long edges count more.
double Level::wish(int number, bool from_above) const {
  const auto item = static_cast<size_t>(number);
  double sum = 0, weights = 0;
  for (const int k : from_above ? above_[item] : below_[item]) {
    const Piece& piece = pieces_[static_cast<size_t>(k)];
    const Item& other = items[static_cast<size_t>(from_above ? piece.from : piece.to)];
    const double shift = from_above ? piece.out - piece.in : piece.in - piece.out;
    const double weight = other.bend && items[item].bend ? 8 : other.bend ? 0.5 : 1;
    sum += weight * (other.x + shift);
    weights += weight;
  }
  return weights > 0 ? sum / weights : items[item].x;
}

void Level::settle_layer(const std::vector<int>& layer, bool from_above) {
  std::vector<double> wishes, weights, distances;
  for (size_t i = 0; i < layer.size(); ++i) {
    const auto item = static_cast<size_t>(layer[i]);
    const bool linked = !(from_above ? above_[item] : below_[item]).empty();
    wishes.push_back(wish(layer[i], from_above));
    weights.push_back(items[item].bend ? 4 : linked ? 1 : 0.1);
    if (i > 0) distances.push_back(distance(layer[i - 1], layer[i]));
  }
  const std::vector<double> places = spread(wishes, weights, distances);
  for (size_t i = 0; i < layer.size(); ++i) items[static_cast<size_t>(layer[i])].x = places[i];
}

void Level::place_across() {
  constexpr int kSweeps = 24;
  for (const std::vector<int>& layer : layers_) {
    double x = 0;
    for (size_t i = 0; i < layer.size(); ++i) {
      if (i > 0) x += distance(layer[i - 1], layer[i]);
      items[static_cast<size_t>(layer[i])].x = x;
    }
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (size_t i = 1; i < layers_.size(); ++i) settle_layer(layers_[i], true);
    for (size_t i = layers_.size(); i-- > 1;) settle_layer(layers_[i - 1], false);
  }
  for (size_t i = 1; i < layers_.size(); ++i) settle_layer(layers_[i], true);
  snap();
}

/// Moves everything to the right of 0, and to middles of cells or pixels.
void Level::snap() {
  double left = INFINITY;
  for (const Item& item : items) left = std::min(left, item.x - item.width / 2);
  const double grain = spacing_.cells ? 1 : 0.5;
  for (const std::vector<int>& layer : layers_) {
    for (size_t i = 0; i < layer.size(); ++i) {
      Item& item = items[static_cast<size_t>(layer[i])];
      item.x = std::floor((item.x - left) / grain) * grain + (spacing_.cells ? 0.5 : 0);
      if (i == 0) continue;
      const Item& before = items[static_cast<size_t>(layer[i - 1])];
      item.x = std::max(item.x, before.x + std::ceil(distance(layer[i - 1], layer[i])));
    }
  }
  width = 0;
  for (const Item& item : items) width = std::max(width, item.x + item.width / 2);
}

/// Pieces end beside each other on top of a box, below where they come from if they can.
void Level::choose_ports() {
  for (size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    if (item.bend || item.width == 0) continue;
    std::vector<Piece*> free;
    for (const int k : above_[i])
      if (!pieces_[static_cast<size_t>(k)].fixed_in)
        free.push_back(&pieces_[static_cast<size_t>(k)]);
    const auto begin = [&](const Piece* p) {
      return items[static_cast<size_t>(p->from)].x + p->out;
    };
    std::stable_sort(free.begin(), free.end(),
                     [&](const Piece* a, const Piece* b) { return begin(a) < begin(b); });
    const double margin =
        spacing_.cells ? 1.5 : std::min(item.width / 2, spacing_.ports / 2);  // beside the corners
    const double gap = std::min(spacing_.ports,
                                (item.width - 2 * margin) / std::max<double>(1, free.size() - 1.0));
    std::vector<double> wishes, weights(free.size(), 1);
    for (const Piece* piece : free)
      wishes.push_back(std::clamp(begin(piece), item.x - item.width / 2 + margin,
                                  item.x + item.width / 2 - margin));
    if (free.empty()) continue;
    std::vector<double> places = spread(wishes, weights, std::vector(free.size() - 1, gap));
    const double most = item.x + item.width / 2 - margin, least = 2 * item.x - most;
    const double shift = places.back() > most ? most - places.back()
                         : places[0] < least  ? least - places[0]
                                              : 0;
    for (size_t k = 0; k < free.size(); ++k) {
      const double at = places[k] + shift;
      free[k]->in = (spacing_.cells ? std::floor(at) + 0.5 : at) - item.x;
    }
  }
}

std::vector<Level::Piece*> Level::pieces_after(int layer) {
  std::vector<Piece*> found;
  for (const int item : layers_[static_cast<size_t>(layer)])
    for (const int k : below_[static_cast<size_t>(item)])
      found.push_back(&pieces_[static_cast<size_t>(k)]);
  return found;
}

/// Gives the horizontal parts of the pieces below a layer tracks, so that no two lie on each other,
/// and that no vertical part lies on another: what leaves a place is above what arrives there.
/// Returns the number of tracks.
int Level::assign_tracks(int layer) {
  struct Bundle {  // pieces that begin together
    double begin = 0, least = 0, most = 0;
    std::vector<Piece*> pieces;
    int track = -1;
  };
  std::map<int, Bundle> by_trunk;
  const double near = spacing_.cells ? 0.9 : 0.75 * spacing_.bends;
  for (Piece* piece : pieces_after(layer)) {
    const double begin = items[static_cast<size_t>(piece->from)].x + piece->out,
                 end = items[static_cast<size_t>(piece->to)].x + piece->in;
    if (std::abs(begin - end) < 0.25) continue;
    Bundle& bundle = by_trunk[piece->trunk];
    if (bundle.pieces.empty()) bundle.begin = bundle.least = bundle.most = begin;
    bundle.least = std::min(bundle.least, end);
    bundle.most = std::max(bundle.most, end);
    bundle.pieces.push_back(piece);
  }
  std::vector<Bundle*> bundles;
  for (auto& [trunk, bundle] : by_trunk) bundles.push_back(&bundle);
  const auto ends_at = [&](const Bundle& b, double x) {
    return std::any_of(b.pieces.begin(), b.pieces.end(), [&](const Piece* p) {
      return std::abs(items[static_cast<size_t>(p->to)].x + p->in - x) < near;
    });
  };
  // Those that go to the right are nested from the right, the others from the left.
  std::stable_sort(bundles.begin(), bundles.end(), [](const Bundle* a, const Bundle* b) {
    const bool right_a = a->most - a->begin > a->begin - a->least,
               right_b = b->most - b->begin > b->begin - b->least;
    if (right_a != right_b) return right_a;
    return right_a ? a->begin > b->begin : a->begin < b->begin;
  });
  int tracks = 0;
  std::vector<Bundle*> waiting = bundles, done;
  while (!waiting.empty()) {
    auto next = std::find_if(waiting.begin(), waiting.end(), [&](const Bundle* b) {
      return std::none_of(waiting.begin(), waiting.end(), [&](const Bundle* other) {
        return other != b && ends_at(*b, other->begin);
      });
    });
    if (next == waiting.end()) next = waiting.begin();
    Bundle* bundle = *next;
    waiting.erase(next);
    int track = 0;
    for (const Bundle* other : done) {
      const bool meet = other->least - near < bundle->most && bundle->least - near < other->most;
      if (meet || ends_at(*bundle, other->begin)) track = std::max(track, other->track + 1);
    }
    bundle->track = track;
    for (Piece* piece : bundle->pieces) piece->track = track;
    tracks = std::max(tracks, track + 1);
    done.push_back(bundle);
  }
  return tracks;
}

void Level::place_along() {
  double y = 0;
  for (size_t i = 0; i < layers_.size(); ++i) {
    double highest = 0;
    for (const int item : layers_[i])
      highest = std::max(highest, items[static_cast<size_t>(item)].height);
    for (const int k : layers_[i]) {
      Item& item = items[static_cast<size_t>(k)];
      const double room = highest - item.height;
      item.top = y + (spacing_.cells ? std::floor(room / 2) : room / 2);
      if (item.bend) item.top = y, item.height = highest;
    }
    tops_.push_back(y);
    bottoms_.push_back(y + highest);
    y += highest;
    if (i + 1 == layers_.size()) break;
    const int tracks = assign_tracks(static_cast<int>(i));
    y += spacing_.layers + std::max(0, tracks - 1) * spacing_.tracks;
  }
  height = y;
}

/// Joins the pieces of links to lines.
void Level::route_links() {
  for (const Piece& piece : pieces_) {
    const Item &from = items[static_cast<size_t>(piece.from)],
               &to = items[static_cast<size_t>(piece.to)];
    std::vector<Point>& route = links[static_cast<size_t>(piece.link)].route;
    const Point begin{from.x + piece.out, from.top + from.height}, end{to.x + piece.in, to.top};
    if (route.empty()) route.push_back(begin);
    if (piece.track >= 0) {
      const double first = spacing_.cells ? 0.5 : spacing_.layers / 2 - 4;
      const double y =
          bottoms_[static_cast<size_t>(from.layer)] + first + piece.track * spacing_.tracks;
      route.push_back({begin.x, y});
      route.push_back({end.x, y});
    }
    route.push_back(end);
  }
  for (Link& link : links)
    if (link.turned) std::reverse(link.route.begin(), link.route.end());
}

void Level::arrange() {
  turn_cycles();
  assign_layers();
  add_bends();
  order_layers();
  place_across();
  choose_ports();
  place_along();
  route_links();
}

}  // namespace crescent::pictures

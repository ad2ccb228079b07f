// The layers of a graph, and the order within them.
#include <algorithm>
#include <functional>
#include <numeric>

#include "graph/level.h"

namespace crescent::pictures {

/// Exchanges the ends of links that lead back to an item that is on the way.
void Level::turn_cycles() {
  std::vector<std::vector<size_t>> outgoing(items.size());
  for (size_t i = 0; i < links.size(); ++i)
    outgoing[static_cast<size_t>(links[i].from)].push_back(i);
  enum State { kNew, kOpen, kDone };
  std::vector<State> states(items.size(), kNew);
  struct Visit {
    size_t item, next;
  };
  for (size_t first = 0; first < items.size(); ++first) {
    if (states[first] != kNew) continue;
    std::vector<Visit> way{{first, 0}};
    states[first] = kOpen;
    while (!way.empty()) {
      Visit& at = way.back();
      if (at.next == outgoing[at.item].size()) {
        states[at.item] = kDone;
        way.pop_back();
        continue;
      }
      Link& link = links[outgoing[at.item][at.next++]];
      const auto to = static_cast<size_t>(link.to);
      if (states[to] == kOpen) link.turned = true;
      if (states[to] == kNew) states[to] = kOpen, way.push_back({to, 0});
    }
  }
  for (Link& link : links)
    if (link.turned) std::swap(link.from, link.to), std::swap(link.in, link.out);
}

/// An item is below all that lead to it; one to which nothing leads is just above what follows.
void Level::assign_layers() {
  std::vector<int> waiting(items.size());
  std::vector<std::vector<int>> after(items.size());
  for (const Link& link : links) {
    ++waiting[static_cast<size_t>(link.to)];
    after[static_cast<size_t>(link.from)].push_back(link.to);
  }
  std::vector<int> ready;
  bool has_first = false;
  for (const Item& item : items) has_first = has_first || item.pin == Item::kFirst;
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].layer = has_first && items[i].pin != Item::kFirst ? 1 : 0;
    if (waiting[i] == 0) ready.push_back(static_cast<int>(i));
  }
  std::vector<int> sorted;
  while (!ready.empty()) {
    const int item = ready.back();
    ready.pop_back();
    sorted.push_back(item);
    for (const int next : after[static_cast<size_t>(item)]) {
      int& layer = items[static_cast<size_t>(next)].layer;
      layer = std::max(layer, items[static_cast<size_t>(item)].layer + 1);
      if (--waiting[static_cast<size_t>(next)] == 0) ready.push_back(next);
    }
  }
  std::vector<bool> is_target(items.size());
  for (const Link& link : links) is_target[static_cast<size_t>(link.to)] = true;
  int last = 0;
  for (const int i : sorted) {
    Item& item = items[static_cast<size_t>(i)];
    last = std::max(last, item.layer + (item.pin == Item::kLast ? 0 : 1));
    if (is_target[static_cast<size_t>(i)] || item.pin != Item::kFree) continue;
    int least = -1;
    for (const int next : after[static_cast<size_t>(i)]) {
      const int layer = items[static_cast<size_t>(next)].layer;
      if (least < 0 || layer < least) least = layer;
    }
    if (least > 0) item.layer = least - 1;
  }
  for (Item& item : items)
    if (item.pin == Item::kLast) item.layer = last;
}

/// Cuts links into pieces between layers that follow each other.
void Level::add_bends() {
  const size_t boxes = items.size();
  for (size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    int from = link.from;
    const int last = items[static_cast<size_t>(link.to)].layer;
    for (int layer = items[static_cast<size_t>(from)].layer + 1; layer <= last; ++layer) {
      int to = link.to;
      if (layer < last) {
        Item bend;
        bend.bend = true;
        bend.layer = layer;
        items.push_back(bend);
        to = static_cast<int>(items.size()) - 1;
      }
      Piece piece;
      piece.from = from, piece.to = to, piece.link = static_cast<int>(i);
      piece.trunk = static_cast<size_t>(from) < boxes ? link.trunk : -1 - from;
      if (from == link.from && link.out) piece.out = *link.out;
      if (to == link.to && link.in) piece.in = *link.in, piece.fixed_in = true;
      pieces_.push_back(piece);
      from = to;
    }
  }
  above_.resize(items.size());
  below_.resize(items.size());
  for (size_t i = 0; i < pieces_.size(); ++i) {
    below_[static_cast<size_t>(pieces_[i].from)].push_back(static_cast<int>(i));
    above_[static_cast<size_t>(pieces_[i].to)].push_back(static_cast<int>(i));
  }
}

/// Sorts a layer by the mean places of what its items are linked with in the layer before it.
void Level::sort_layer(std::vector<int>& layer, bool from_above) {
  std::vector<double> keys(items.size());
  for (size_t i = 0; i < layer.size(); ++i) {
    const auto item = static_cast<size_t>(layer[i]);
    const std::vector<int>& linked = from_above ? above_[item] : below_[item];
    double sum = 0;
    for (const int k : linked) {
      const Piece& piece = pieces_[static_cast<size_t>(k)];
      const Item& other = items[static_cast<size_t>(from_above ? piece.from : piece.to)];
      const double width = std::max(other.width, 1.0);
      sum += other.x + 0.5 * (from_above ? piece.out : piece.in) / width;
    }
    keys[item] = linked.empty() ? static_cast<double>(i) : sum / static_cast<double>(linked.size());
  }
  std::stable_sort(layer.begin(), layer.end(), [&](int a, int b) {
    return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
  });
  for (size_t i = 0; i < layer.size(); ++i)
    items[static_cast<size_t>(layer[i])].x = static_cast<double>(i);
}

/// How many pairs of pieces cross, by the order in which x counts items.
int Level::crossings() const {
  int count = 0;
  for (const std::vector<int>& layer : layers_) {
    std::vector<std::pair<double, double>> ends;
    for (const int item : layer)
      for (const int k : below_[static_cast<size_t>(item)]) {
        const Piece& piece = pieces_[static_cast<size_t>(k)];
        ends.emplace_back(items[static_cast<size_t>(piece.from)].x,
                          items[static_cast<size_t>(piece.to)].x);
      }
    for (size_t a = 0; a < ends.size(); ++a)
      for (size_t b = a + 1; b < ends.size(); ++b)
        count += (ends[a].first - ends[b].first) * (ends[a].second - ends[b].second) < 0;
  }
  return count;
}

/// Keeps the best order of several sweeps downwards and upwards.
void Level::order_layers() {
  constexpr int kSweeps = 12;
  int last = 0;
  for (const Item& item : items) last = std::max(last, item.layer);
  layers_.resize(static_cast<size_t>(last) + 1);
  for (size_t i = 0; i < items.size(); ++i) {
    std::vector<int>& layer = layers_[static_cast<size_t>(items[i].layer)];
    items[i].x = static_cast<double>(layer.size());
    layer.push_back(static_cast<int>(i));
  }
  std::vector<std::vector<int>> best = layers_;
  int least = crossings();
  for (int sweep = 0; sweep < kSweeps && least > 0; ++sweep) {
    if (sweep % 2 == 0)
      for (size_t i = 1; i < layers_.size(); ++i) sort_layer(layers_[i], true);
    else
      for (size_t i = layers_.size() - 1; i-- > 0;) sort_layer(layers_[i], false);
    if (const int now = crossings(); now < least) least = now, best = layers_;
  }
  layers_ = best;
}

}  // namespace crescent::pictures

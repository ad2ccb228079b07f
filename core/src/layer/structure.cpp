// The tree of sublayers and the propagation of structure versions: a layer keeps pointers to the
// layers that contain it.
#include <algorithm>
#include <atomic>
#include <unordered_set>

#include "layer/built_input_shapes.h"
#include "layer/layer_access.h"
#include "layer/sublayer_options.h"

namespace crescent {
namespace {

uint64_t next_version() {
  static std::atomic<uint64_t> last_version{0};
  return ++last_version;
}

void collect(Layer& layer, std::unordered_set<Layer*>& visited, std::vector<Layer*>& layers) {
  if (!visited.insert(&layer).second) return;
  layers.push_back(&layer);
  for (const LayerPtr& sublayer : layer.sublayers()) collect(*sublayer, visited, layers);
}

}  // namespace

Layer::~Layer() {
  if (built_) forget_built_input_shapes(*this);
  forget_sublayer_options(*this);
  for (const LayerPtr& sublayer : sublayers_) std::erase(sublayer->owners_, this);
}

void Layer::structure_changed() { LayerAccess::set_version(*this, next_version()); }

void LayerAccess::set_version(Layer& layer, uint64_t version) {
  if (layer.version_ == version) return;
  layer.version_ = version;
  for (Layer* owner : layer.owners_) set_version(*owner, version);
}

void Layer::track(const LayerPtr& layer) {
  if (!layer) fail("expected a layer to track, got none");
  LayerAccess::refuse_cycle(*this, *layer);
  if (std::find(sublayers_.begin(), sublayers_.end(), layer) != sublayers_.end()) return;
  sublayers_.push_back(layer);
  layer->owners_.push_back(this);
  structure_changed();
  apply_options_of(*this, *layer);
}

void Layer::untrack(const LayerPtr& layer) {
  if (std::erase(sublayers_, layer) == 0) return;
  std::erase(layer->owners_, this);
  structure_changed();
}

void LayerAccess::replace_sublayer(Layer& owner, const LayerPtr& old_sublayer,
                                   const LayerPtr& new_sublayer) {
  std::replace(owner.sublayers_.begin(), owner.sublayers_.end(), old_sublayer, new_sublayer);
  std::erase(old_sublayer->owners_, &owner);
  new_sublayer->owners_.push_back(&owner);
}

void LayerAccess::replace_sublayers(Layer& owner, std::vector<LayerPtr> sublayers) {
  for (const LayerPtr& sublayer : owner.sublayers_) std::erase(sublayer->owners_, &owner);
  owner.sublayers_ = std::move(sublayers);
  for (const LayerPtr& sublayer : owner.sublayers_) sublayer->owners_.push_back(&owner);
  owner.structure_changed();
}

void LayerAccess::refuse_cycle(const Layer& outer_layer, const Layer& inner_layer) {
  std::unordered_set<const Layer*> visited{&outer_layer};
  // `outer_layer` and layers that contain it, directly or not, whose owners are not visited yet
  std::vector<const Layer*> waiting_layers{&outer_layer};
  while (!waiting_layers.empty()) {
    const Layer* layer = waiting_layers.back();
    waiting_layers.pop_back();
    if (layer == &inner_layer)
      fail_in_layer(outer_layer.name(), "Layer ", outer_layer.name(), " cannot be inside itself");
    for (const Layer* owner : layer->owners_)
      if (visited.insert(owner).second) waiting_layers.push_back(owner);
  }
}

std::vector<Layer*> Layer::flatten_layers() {
  std::unordered_set<Layer*> visited;
  std::vector<Layer*> layers;
  collect(*this, visited, layers);
  return layers;
}

}  // namespace crescent

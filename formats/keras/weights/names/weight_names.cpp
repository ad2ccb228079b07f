#include "keras/weights/names/weight_names.h"

#include <algorithm>
#include <map>
#include <set>

#include "keras/weights/match.h"

namespace crescent::keras {
namespace {

/// Layers that the weights of the layer inside are named after in Keras 2: it has no name of its
/// own there.
constexpr const char* kNamesInside[] = {
    "SimpleRNN", "LSTM", "GRU", "RNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "TimeDistributed"};

/// An adapter is part of its layer to Keras.
bool names_inside(const Layer& layer, const Layer& inner, const std::string& target) {
  return inner.class_name() == "LoraAdapter" ||
         (target == "keras2" && std::find(std::begin(kNamesInside), std::end(kNamesInside),
                                          layer.class_name()) != std::end(kNamesInside));
}

using Paths = std::map<const void*, std::string>;

/// Layers inside a model are named as if there were nothing around it.
void add_paths(const Layer& layer, const std::string& scope, const std::string& target,
               Paths& paths) {
  const std::vector<LayerPtr>& inside = layer.sublayers();
  for (const Variable& own : own_variables(layer, inside))
    if (!own.name().empty()) paths.emplace(own.id(), scope + "/" + own.name());
  const bool is_model = dynamic_cast<const Model*>(&layer) != nullptr;
  for (const LayerPtr& inner : inside)
    add_paths(*inner,
              is_model                              ? inner->name()
              : names_inside(layer, *inner, target) ? scope
                                                    : scope + "/" + inner->name(),
              target, paths);
}

}  // namespace

std::vector<std::string> weight_names(const Layer& layer, const Variables& weights,
                                      const std::string& target) {
  Paths paths;
  add_paths(layer, layer.name(), target, paths);
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto found = paths.find(weights[i].id());
    const std::string base = found == paths.end() ? concat("param_", i) : found->second;
    std::string name = base;
    for (int copy = 1; !taken.insert(name).second; ++copy) name = concat(base, "_", copy);
    names.push_back(target == "keras2" ? name + ":0" : name);
  }
  return names;
}

}  // namespace crescent::keras

#include "keras/weights/names/weight_names.h"

#include <algorithm>
#include <map>
#include <set>

#include "keras/source/match.h"

namespace crescent::keras {
namespace {

/// Classes whose inner layer is not part of the names of weights in Keras 2: the weights of the
/// inner layer are named after the outer layer.
constexpr const char* kOmittingInnerNames[] = {
    "SimpleRNN", "LSTM", "GRU", "RNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "TimeDistributed"};

/// Whether names of weights omit the name of the inner layer. That of an adapter is always omitted,
/// because in Keras the adapter is a part of its layer.
bool omits_inner_name(const Layer& layer, const Layer& inner_layer,
                      const std::string& target_generation) {
  return inner_layer.class_name() == "LoraAdapter" ||
         (target_generation == "keras2" &&
          std::find(std::begin(kOmittingInnerNames), std::end(kOmittingInnerNames),
                    layer.class_name()) != std::end(kOmittingInnerNames));
}

/// The names of a weight: `name_in_model` is relative to the innermost model that contains it,
/// `name_in_layer` is relative to the given layer.
struct WeightName {
  std::string name_in_model, name_in_layer;
};
using WeightNames = std::map<const void*, WeightName>;

/// Adds the names of all weights in a layer. The name of a weight in a nested model does not
/// contain the names of layers outside that model.
void add_names(const Layer& layer, const WeightName& scope, const std::string& target_generation,
               WeightNames& names) {
  const std::vector<LayerPtr>& inner_layers = layer.sublayers();
  for (const Variable& variable : own_variables(layer, inner_layers))
    if (!variable.name().empty())
      names.emplace(variable.id(), WeightName{scope.name_in_model + "/" + variable.name(),
                                              scope.name_in_layer + "/" + variable.name()});
  const bool is_model = dynamic_cast<const Model*>(&layer) != nullptr;
  for (const LayerPtr& inner_layer : inner_layers) {
    const std::string inner_path =
        omits_inner_name(layer, *inner_layer, target_generation) ? "" : "/" + inner_layer->name();
    add_names(*inner_layer,
              {is_model ? inner_layer->name() : scope.name_in_model + inner_path,
               scope.name_in_layer + inner_path},
              target_generation, names);
  }
}

}  // namespace

std::vector<std::string> weight_names(const Layer& layer, const Variables& weights,
                                      const std::string& target_generation) {
  WeightNames names_by_id;
  add_names(layer, {layer.name(), layer.name()}, target_generation, names_by_id);
  std::map<std::string, int> name_counts;
  for (const auto& [id, name] : names_by_id) ++name_counts[name.name_in_model];
  std::vector<std::string> names;
  std::set<std::string> used_names;
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto found = names_by_id.find(weights[i].id());
    const std::string base = found == names_by_id.end() ? concat("param_", i)
                             : name_counts.at(found->second.name_in_model) > 1
                                 ? found->second.name_in_layer
                                 : found->second.name_in_model;
    std::string name = base;
    for (int copy = 1; !used_names.insert(name).second; ++copy) name = concat(base, "_", copy);
    names.push_back(target_generation == "keras2" ? name + ":0" : name);
  }
  return names;
}

}  // namespace crescent::keras

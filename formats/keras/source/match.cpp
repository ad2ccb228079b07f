#include "keras/source/match.h"

#include <map>
#include <set>

namespace crescent::keras {

namespace {
constexpr const char *kSavesOwnState = "keeps_own_variables", *kOwnVariables = "own_variables";
}

bool saves_own_state(const Layer& layer) {
  return layer.info() && layer.info()->schema.find_property(kSavesOwnState) &&
         layer.get_property(kSavesOwnState).as_bool();
}

Dict own_state(const Layer& layer) { return layer.get_property(kOwnVariables).as_dict(); }

void pass_to_layers(const Matches& matches) {
  std::map<Layer*, Dict> values;
  for (const Match& match : matches)
    if (match.self_loading_layer)
      values[match.self_loading_layer].set(match.dataset.substr(match.dataset.rfind('/') + 1),
                                           Codec<Tensor>::encode(match.variable.value()));
  for (const auto& [layer, own_values] : values) layer->set_property(kOwnVariables, own_values);
}

void clear_adapters(const Matches& matches) {
  for (const Match& match : matches)
    if (match.adapter) match.adapter.assign(ops::zeros_like(match.adapter));
}

std::vector<std::string> datasets_of(const Matches& matches) {
  std::vector<std::string> names;
  for (const Match& match : matches) names.push_back(match.dataset);
  return names;
}

void convert_shapes(const Matches& matches, std::vector<TensorSpec>& saved_specs) {
  for (size_t i = 0; i < matches.size(); ++i)
    if (matches[i].converted_shape)
      saved_specs[i].shape = matches[i].converted_shape(saved_specs[i].shape);
}

void append(Matches& matches, Matches additions) {
  matches.insert(matches.end(), std::make_move_iterator(additions.begin()),
                 std::make_move_iterator(additions.end()));
}

Variables own_variables(const Layer& layer, const std::vector<LayerPtr>& inner_layers) {
  std::set<const void*> inner_ids;
  for (const LayerPtr& inner_layer : inner_layers)
    for (const Variable& weight : inner_layer->weights()) inner_ids.insert(weight.id());
  Variables result;
  for (const Variable& weight : layer.weights())
    if (!inner_ids.count(weight.id())) result.push_back(weight);
  return result;
}

/// Fails for a layer that is not built, unless the model is built. In a built model such layers are
/// only called in training, like Dropout, and have no weights.
void check_built(const Model& model, const std::string& path) {
  if (model.built()) return;
  for (const LayerPtr& layer : model.operations())
    if (!layer->built())
      fail("'", path, "': layer '", layer->name(),
           "' of the model is not built yet; build the model before loading weights");
}

}  // namespace crescent::keras

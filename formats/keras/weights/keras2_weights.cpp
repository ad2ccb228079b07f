#include "keras/weights/keras2_weights.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "keras/weights/cudnn_weights.h"
#include "keras/weights/turned_kernels.h"
#include "keras/weights/weight_names.h"

namespace crescent::keras {
namespace {

constexpr const char* kTopLevel = "top_level_model_weights";

std::string join_path(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

// ---- writing

void write_group(Entries& entries, const std::string& group, const Layer& layer,
                 const Variables& weights, const std::string& target) {
  std::vector<std::string> names = weight_names(layer, weights, target);
  entries.push_back({group, {{"weight_names", names}}});
  for (size_t i = 0; i < weights.size(); ++i)
    entries.push_back({join_path(group, names[i]), {}, weights[i].value()});
}

// ---- what a file has

struct SavedLayer {
  std::string name;
  std::vector<std::string> datasets;
};

/// Layers with weights, in order.
std::vector<SavedLayer> saved_layers(WeightSource& file, const std::string& group) {
  std::vector<std::string> names = file.texts(group, "layer_names").value(), groups;
  for (const std::string& name : names) groups.push_back(join_path(group, name));
  auto weights = file.texts(groups, "weight_names");
  std::vector<SavedLayer> layers;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!weights[i])
      fail("'", file.path(), "': '/", groups[i], "' has no weight_names; nothing was loaded");
    if (weights[i]->empty()) continue;
    layers.push_back({names[i], {}});
    for (const std::string& weight : *weights[i])
      layers.back().datasets.push_back(join_path(groups[i], weight));
  }
  return layers;
}

// ---- what a model has

std::vector<LayerPtr> layers_with_weights(Model& model, const std::string& path) {
  check_built(model, path);
  std::vector<LayerPtr> layers;
  for (const LayerPtr& layer : model.layers())
    if (!layer->weights().empty()) layers.push_back(layer);
  return layers;
}

void match_layer(Matches& matches, const Layer& layer, const SavedLayer& saved,
                 const TurnedKernels& turned) {
  Variables weights = layer.weights();
  for (size_t i = 0; i < weights.size(); ++i)
    matches.push_back({saved.datasets[i], weights[i], turned.convert(weights[i]), layer.name()});
}

/// Variables of the model itself, when it has any.
void match_top_level(Matches& matches, WeightSource& file, const std::string& group, Model& model) {
  Variables own = own_variables(model, model.layers());
  if (own.empty()) return;
  std::string top = join_path(group, kTopLevel);
  auto names = file.texts(top, "weight_names");
  if (!names || names->size() != own.size())
    fail("'", file.path(), "': the model has ", own.size(),
         " weights of its own, but the file has ", names ? names->size() : 0);
  for (size_t i = 0; i < own.size(); ++i)
    matches.push_back({join_path(top, (*names)[i]), own[i], nullptr, model.name()});
}

}  // namespace

void write_weights(Entries& entries, Model& model, const std::string& group,
                   const std::string& target) {
  std::vector<std::string> names;
  for (const LayerPtr& layer : model.layers()) names.push_back(layer->name());
  entries.push_back({group,
                     {{"layer_names", names},
                      {"backend", std::string(kBackend)},
                      {"keras_version", std::string(kKerasVersion)}}});
  for (const LayerPtr& layer : model.layers())
    write_group(entries, join_path(group, layer->name()), *layer, layer->weights(), target);
  if (Variables own = own_variables(model, model.layers()); !own.empty())
    write_group(entries, join_path(group, kTopLevel), model, own, target);
}

std::string find_weights(WeightSource& file) {
  for (const char* group : {"", "model_weights"})
    if (file.texts(group, "layer_names")) return group;
  fail("'", file.path(),
       "': no weights in Keras' HDF5 layout (neither '/' nor '/model_weights' has layer_names)");
}

Matches match_in_order(WeightSource& file, const std::string& group, Model& model,
                       const Origin& origin) {
  auto saved = saved_layers(file, group);
  auto layers = layers_with_weights(model, file.path());
  if (saved.size() != layers.size())
    fail("'", file.path(), "': You are trying to load a weight file containing ", saved.size(),
         " layers into a model with ", layers.size(), " layers.");
  const TurnedKernels turned(model, origin);
  Matches matches;
  for (size_t k = 0; k < layers.size(); ++k) {
    const Layer& layer = *layers[k];
    size_t expected = layer.weights().size();
    if (saved[k].datasets.size() != expected)
      fail("'", file.path(), "': Layer #", k, " (named \"", layer.name(),
           "\" in the current model) was found to correspond to layer ", saved[k].name,
           " in the save file. However the new layer ", layer.name(), " expects ", expected,
           " weights, but the saved weights have ", saved[k].datasets.size(), " elements.");
    match_layer(matches, layer, saved[k], turned);
  }
  match_top_level(matches, file, group, model);
  return matches;
}

Matches match_own(WeightSource& file, const std::string& group, Model& model,
                  const Origin& origin) {
  auto saved = saved_layers(file, group);
  std::map<std::string, const SavedLayer*> by_name;
  for (const SavedLayer& layer : saved) by_name[layer.name] = &layer;
  auto layers = layers_with_weights(model, file.path());
  bool same = layers.size() == saved.size() && by_name.size() == saved.size();
  for (const LayerPtr& layer : layers) {
    auto found = by_name.find(layer->name());
    same =
        same && found != by_name.end() && found->second->datasets.size() == layer->weights().size();
  }
  if (!same) return match_in_order(file, group, model, origin);
  const TurnedKernels turned(model, origin);
  Matches matches;
  for (const LayerPtr& layer : layers)
    match_layer(matches, *layer, *by_name.at(layer->name()), turned);
  match_top_level(matches, file, group, model);
  return matches;
}

namespace {

/// What does not fit about the shapes of one layer; empty when everything does.
std::string shape_mismatch(const Matches& matches, const std::vector<TensorSpec>& specs, size_t k,
                           bool skip) {
  for (size_t i = 0; i < matches.size(); ++i) {
    const Shape& saved = specs[i].shape;
    const Variable& weight = matches[i].variable;
    if (saved == weight.shape()) continue;
    if (skip)
      return concat("Skipping loading of weights for layer ", matches[i].layer,
                    " due to mismatch in shape (", weight.shape(), " vs ", saved, ").");
    return concat("Layer #", k, " (named \"", matches[i].layer, "\"), weight ", weight.path(),
                  " has shape ", weight.shape(), ", but the saved weight has shape ", saved, ".");
  }
  return "";
}

}  // namespace

Matches match_by_name(WeightSource& file, const std::string& group, Model& model,
                      const Origin& origin, bool skip_mismatch) {
  const TurnedKernels turned(model, origin);
  std::unordered_map<std::string, LayerPtr> layers;
  for (const LayerPtr& layer : layers_with_weights(model, file.path()))
    layers.emplace(layer->name(), layer);
  struct Found {
    size_t k;  // among the layers of the file
    Matches matches;
    std::string mismatch;  // why there are none
  };
  std::vector<Found> found;
  std::vector<std::string> datasets;
  size_t k = 0;
  for (const SavedLayer& saved : saved_layers(file, group)) {
    const size_t place = k++;
    auto match = layers.find(saved.name);
    if (match == layers.end()) continue;
    const Layer& layer = *match->second;
    size_t expected = layer.weights().size(), stored = saved.datasets.size();
    if (expected != stored) {
      found.push_back(
          {place,
           {},
           skip_mismatch
               ? concat("Skipping loading of weights for layer ", layer.name(),
                        " due to mismatch in number of weights (", expected, " vs ", stored, ").")
               : concat("Layer #", place, " (named \"", layer.name(), "\") expects ", expected,
                        " weight(s), but the saved weights have ", stored, " element(s).")});
      continue;
    }
    found.push_back({place, {}, ""});
    match_layer(found.back().matches, layer, saved, turned);
    datasets.insert(datasets.end(), saved.datasets.begin(), saved.datasets.end());
  }
  const std::vector<TensorSpec> specs = file.describe(datasets);  // one question for all
  Matches matches;
  auto next = specs.begin();
  for (Found& each : found) {
    const auto end = next + static_cast<std::ptrdiff_t>(each.matches.size());
    std::vector<TensorSpec> saved(next, end);
    convert_cudnn(each.matches, saved);
    if (each.mismatch.empty())
      each.mismatch = shape_mismatch(each.matches, saved, each.k, skip_mismatch);
    next = end;
    if (each.mismatch.empty())
      matches.insert(matches.end(), each.matches.begin(), each.matches.end());
    else if (skip_mismatch)
      warn(each.mismatch);
    else
      fail("'", file.path(), "': ", each.mismatch);
  }
  return matches;
}

}  // namespace crescent::keras

#include "keras/weights/keras2_weights.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "keras/graphs/operation_nodes.h"
#include "keras/weights/cudnn_weights.h"
#include "keras/weights/flipped_kernels.h"
#include "keras/weights/names/weight_names.h"
#include "keras/weights/weight_paths.h"

namespace crescent::keras {
namespace {

constexpr const char* kTopLevel = "top_level_model_weights";

std::string join_path(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

/// The weights of a layer in the order in which files store them: trainable ones first.
Variables saved_weights(const Layer& layer) {
  Variables weights = layer.trainable_weights();
  for (const Variable& frozen_weight : layer.non_trainable_weights())
    weights.push_back(frozen_weight);
  return weights;
}

// ---- writing of weights

void write_group(Entries& entries, const std::string& group, const Layer& layer,
                 const Variables& weights, const std::string& target_generation) {
  std::vector<std::string> names = weight_names(layer, weights, target_generation);
  entries.push_back({group, {{"weight_names", names}}});
  for (size_t i = 0; i < weights.size(); ++i)
    entries.push_back({join_path(group, names[i]), {}, weights[i].value()});
}

// ---- the layers of a file

struct SavedLayer {
  std::string name, group;
  std::vector<std::string> datasets;
};

/// The layers in the file that have weights, in order.
std::vector<SavedLayer> saved_layers(WeightSource& file, const std::string& group) {
  std::vector<std::string> names = file.texts(group, "layer_names").value(), groups;
  for (const std::string& name : names) groups.push_back(join_path(group, name));
  auto weights = file.texts(groups, "weight_names");
  std::vector<SavedLayer> layers;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!weights[i])
      fail("'", file.path(), "': '/", groups[i], "' has no weight_names; nothing was loaded");
    if (weights[i]->empty()) continue;
    layers.push_back({names[i], groups[i], {}});
    for (const std::string& weight : *weights[i])
      layers.back().datasets.push_back(join_path(groups[i], weight));
  }
  return layers;
}

// ---- the layers of a model

/// Returns the layers that have weights; fails if the file has weights and the model is not built.
std::vector<LayerPtr> layers_with_weights(Model& model, const std::string& path,
                                          const std::vector<SavedLayer>& layers_in_file) {
  if (!layers_in_file.empty()) check_built(model, path);
  std::vector<LayerPtr> layers;
  for (const LayerPtr& layer : model.operations())
    if (!layer->weights().empty()) layers.push_back(layer);
  return layers;
}

/// The path of a dataset relative to the group of its layer, without the ":0" of TensorFlow.
std::string plain_name(const std::string& dataset, const std::string& group) {
  const size_t end = dataset.ends_with(":0") ? dataset.size() - 2 : dataset.size();
  return dataset.substr(group.size() + 1, end - group.size() - 1);
}

/// The datasets of a layer in the order of its weights. Frozen weights of nested layers come last,
/// but may have been trainable when the file was written. Therefore datasets are found by name if
/// all names agree.
std::vector<std::string> datasets_for(const Layer& layer, const Variables& weights,
                                      const SavedLayer& saved_layer) {
  if (layer.sublayers().empty()) return saved_layer.datasets;
  std::map<std::string, std::string> dataset_by_name;
  for (const std::string& dataset : saved_layer.datasets)
    dataset_by_name.emplace(plain_name(dataset, saved_layer.group), dataset);
  for (const char* target_generation : {"keras3", "keras2"}) {
    std::vector<std::string> datasets;
    for (std::string name : weight_names(layer, weights, target_generation)) {
      if (name.ends_with(":0")) name.resize(name.size() - 2);
      const auto entry = dataset_by_name.find(name);
      if (entry != dataset_by_name.end()) datasets.push_back(entry->second);
    }
    if (datasets.size() == saved_layer.datasets.size()) return datasets;
  }
  return saved_layer.datasets;
}

void match_layer(Matches& matches, const Layer& layer, const SavedLayer& saved_layer,
                 const FlippedKernels& flipped_kernels) {
  const Variables weights = saved_weights(layer);
  const std::vector<std::string> datasets = datasets_for(layer, weights, saved_layer);
  for (size_t i = 0; i < weights.size(); ++i)
    matches.push_back({datasets[i], weights[i], flipped_kernels.conversion_of(weights[i]),
                       layer.name(), flipped_kernels.shape_conversion_of(weights[i])});
}

/// Matches the variables that belong to the model itself, not to one of its layers.
void match_top_level(Matches& matches, WeightSource& file, const std::string& group, Model& model) {
  Variables model_variables = own_variables(model, model.operations());
  if (model_variables.empty()) return;
  std::string top_group = join_path(group, kTopLevel);
  auto names = file.texts(top_group, "weight_names");
  if (!names || names->size() != model_variables.size())
    fail("'", file.path(), "': the model has ", model_variables.size(),
         " weights of its own, but the file has ", names ? names->size() : 0);
  for (size_t i = 0; i < model_variables.size(); ++i)
    matches.push_back(
        {join_path(top_group, (*names)[i]), model_variables[i], nullptr, model.name()});
}

/// The error message for a layer if a saved shape differs from that of the weight; empty if all
/// shapes agree.
std::string shape_mismatch(const Matches& matches, const std::vector<TensorSpec>& specs,
                           size_t layer_index, bool skip_mismatch) {
  for (size_t i = 0; i < matches.size(); ++i) {
    const Shape& saved_shape = specs[i].shape;
    const Variable& weight = matches[i].variable;
    if (saved_shape == weight.shape()) continue;
    if (skip_mismatch)
      return concat("Skipping loading of weights for layer ", matches[i].layer,
                    " due to mismatch in shape (", weight.shape(), " vs ", saved_shape, ").");
    return concat("Layer #", layer_index, " (named \"", matches[i].layer, "\"), weight ",
                  weight.path(), " has shape ", weight.shape(), ", but the saved weight has shape ",
                  saved_shape, ".");
  }
  return "";
}

/// A layer of the model, and the layer of the file that has its weights.
struct LayerPair {
  size_t index;  // the index of the layer in the file
  const Layer* layer;
  const SavedLayer* saved_layer;
};

std::string count_mismatch(const LayerPair& pair, bool skip_mismatch) {
  const size_t expected_count = pair.layer->weights().size(),
               saved_count = pair.saved_layer->datasets.size();
  if (expected_count == saved_count) return "";
  if (skip_mismatch)
    return concat("Skipping loading of weights for layer ", pair.layer->name(),
                  " due to mismatch in number of weights (", expected_count, " vs ", saved_count,
                  ").");
  return concat("Layer #", pair.index, " (named \"", pair.layer->name(), "\") expects ",
                expected_count, " weight(s), but the saved weights have ", saved_count,
                " element(s).");
}

/// The matches of the layers in `pairs`. If the weights of a layer do not fit: with `skip_mismatch`
/// the layer is left out with a warning, otherwise the function fails.
Matches match_fitting(WeightSource& file, const std::vector<LayerPair>& pairs,
                      const FlippedKernels& flipped_kernels, bool skip_mismatch) {
  struct LayerMatches {
    Matches matches;
    std::string mismatch;  // the reason why the weights do not fit; empty if they do
  };
  std::vector<LayerMatches> matches_of_layers;
  std::vector<std::string> datasets;
  for (const LayerPair& pair : pairs) {
    matches_of_layers.push_back({{}, count_mismatch(pair, skip_mismatch)});
    if (!matches_of_layers.back().mismatch.empty()) continue;
    match_layer(matches_of_layers.back().matches, *pair.layer, *pair.saved_layer, flipped_kernels);
    for (const Match& match : matches_of_layers.back().matches) datasets.push_back(match.dataset);
  }
  // describes all datasets with a single request
  const std::vector<TensorSpec> specs = file.describe(datasets);
  Matches matches;
  auto next = specs.begin();
  for (size_t i = 0; i < pairs.size(); ++i) {
    LayerMatches& layer_matches = matches_of_layers[i];
    const auto end = next + static_cast<std::ptrdiff_t>(layer_matches.matches.size());
    std::vector<TensorSpec> saved_specs(next, end);
    convert_shapes(layer_matches.matches, saved_specs);
    convert_cudnn(layer_matches.matches, saved_specs);
    if (layer_matches.mismatch.empty())
      layer_matches.mismatch =
          shape_mismatch(layer_matches.matches, saved_specs, pairs[i].index, skip_mismatch);
    next = end;
    if (layer_matches.mismatch.empty())
      matches.insert(matches.end(), layer_matches.matches.begin(), layer_matches.matches.end());
    else if (skip_mismatch)
      warn(layer_matches.mismatch);
    else
      fail("'", file.path(), "': ", layer_matches.mismatch);
  }
  return matches;
}

}  // namespace

void write_weights(Entries& entries, Model& model, const std::string& group,
                   const std::string& target_generation) {
  std::vector<LayerPtr> layers = model.operations();
  std::erase_if(layers, [](const LayerPtr& layer) {  // operations are not layers in Keras
    return layer->class_name() == kOperationLayer;
  });
  std::vector<std::string> names;
  for (const LayerPtr& layer : layers) names.push_back(layer->name());
  entries.push_back({group,
                     {{"layer_names", names},
                      {"backend", std::string(kBackend)},
                      {"keras_version", std::string(keras_version_of(target_generation))}}});
  for (const LayerPtr& layer : layers)
    write_group(entries, join_path(group, layer->name()), *layer, saved_weights(*layer),
                target_generation);
  const Variables model_variables = own_variables(model, model.operations());
  if (!model_variables.empty() || target_generation == "keras3")
    write_group(entries, join_path(group, kTopLevel), model, model_variables, target_generation);
}

std::string find_weights(WeightSource& file) {
  for (const char* group : {"", "model_weights"})
    if (file.texts(group, "layer_names")) return group;
  fail("'", file.path(),
       "': no weights in Keras' HDF5 layout (neither '/' nor '/model_weights' has layer_names)");
}

Matches match_in_order(WeightSource& file, const std::string& group, Model& model,
                       const Origin& origin, bool skip_mismatch) {
  auto saved_layers_of_file = saved_layers(file, group);
  auto layers = layers_with_weights(model, file.path(), saved_layers_of_file);
  if (saved_layers_of_file.size() != layers.size())
    fail("'", file.path(), "': You are trying to load a weight file containing ",
         saved_layers_of_file.size(), " layers into a model with ", layers.size(), " layers.");
  const FlippedKernels flipped_kernels(model, origin);
  Matches matches;
  std::vector<LayerPair> pairs;
  for (size_t k = 0; k < layers.size(); ++k) {
    const Layer& layer = *layers[k];
    size_t expected_count = layer.weights().size();
    if (skip_mismatch) {
      pairs.push_back({k, &layer, &saved_layers_of_file[k]});
      continue;
    }
    if (saved_layers_of_file[k].datasets.size() != expected_count)
      fail("'", file.path(), "': Layer #", k, " (named \"", layer.name(),
           "\" in the current model) was found to correspond to layer ",
           saved_layers_of_file[k].name, " in the save file. However the new layer ", layer.name(),
           " expects ", expected_count, " weights, but the saved weights have ",
           saved_layers_of_file[k].datasets.size(), " elements.");
    match_layer(matches, layer, saved_layers_of_file[k], flipped_kernels);
  }
  if (skip_mismatch) matches = match_fitting(file, pairs, flipped_kernels, true);
  match_top_level(matches, file, group, model);
  return matches;
}

Matches match_own(WeightSource& file, const std::string& group, Model& model,
                  const Origin& origin) {
  auto saved_layers_of_file = saved_layers(file, group);
  std::map<std::string, const SavedLayer*> saved_layer_by_name;
  for (const SavedLayer& layer : saved_layers_of_file) saved_layer_by_name[layer.name] = &layer;
  auto layers = layers_with_weights(model, file.path(), saved_layers_of_file);
  bool have_same_names = layers.size() == saved_layers_of_file.size() &&
                         saved_layer_by_name.size() == saved_layers_of_file.size();
  for (const LayerPtr& layer : layers) {
    auto found = saved_layer_by_name.find(layer->name());
    have_same_names = have_same_names && found != saved_layer_by_name.end() &&
                      found->second->datasets.size() == layer->weights().size();
  }
  if (!have_same_names) return match_in_order(file, group, model, origin);
  const FlippedKernels flipped_kernels(model, origin);
  Matches matches;
  for (const LayerPtr& layer : layers)
    match_layer(matches, *layer, *saved_layer_by_name.at(layer->name()), flipped_kernels);
  match_top_level(matches, file, group, model);
  return matches;
}

Matches match_by_name(WeightSource& file, const std::string& group, Model& model,
                      const Origin& origin, bool skip_mismatch, const Renaming& renaming) {
  std::unordered_map<std::string, LayerPtr> layers;
  const std::vector<SavedLayer> saved_layers_of_file = saved_layers(file, group);
  for (const LayerPtr& layer : layers_with_weights(model, file.path(), saved_layers_of_file))
    layers.emplace(layer->name(), layer);
  renaming.expect_all_match(file.path(), file.texts(group, "layer_names").value());
  std::vector<LayerPair> pairs;
  for (size_t k = 0; k < saved_layers_of_file.size(); ++k)
    if (auto model_layer = layers.find(renaming(saved_layers_of_file[k].name));
        model_layer != layers.end())
      pairs.push_back({k, model_layer->second.get(), &saved_layers_of_file[k]});
  return match_fitting(file, pairs, FlippedKernels(model, origin), skip_mismatch);
}

namespace {

/// The path of a dataset relative to its layer: "kernel" for "dense_1/kernel:0" of the layer
/// "dense_1".
std::string inside_layer(std::string dataset, const std::string& group, const std::string& layer) {
  dataset.erase(0, group.size() + 1);
  if (dataset.starts_with(layer + "/")) dataset.erase(0, layer.size() + 1);
  if (dataset.ends_with(":0")) dataset.resize(dataset.size() - 2);
  return dataset;
}

}  // namespace

Matches match_by_layer_path(WeightSource& file, const std::string& group, Model& model,
                            const Origin& origin, const Renaming& renaming) {
  check_built(model, file.path());
  std::vector<std::pair<std::string, Variable>> unmatched_weights = weights_by_path(model);
  const FlippedKernels flipped_kernels(model, origin);
  Matches matches;
  Names unexpected;
  renaming.expect_all_match(file.path(), file.texts(group, "layer_names").value());
  for (const SavedLayer& saved_layer : saved_layers(file, group))
    for (const std::string& dataset : saved_layer.datasets) {
      const std::string path_end = "/" + inside_layer(dataset, join_path(group, saved_layer.name),
                                                      saved_layer.name),
                        path_beginning = renaming(saved_layer.name) + "/";
      const auto fits = [&](const auto& weight) {
        return weight.first.starts_with(path_beginning) && weight.first.ends_with(path_end);
      };
      const auto found = std::find_if(unmatched_weights.begin(), unmatched_weights.end(), fits);
      if (found == unmatched_weights.end()) {
        unexpected.push_back(dataset);
        continue;
      }
      if (std::find_if(found + 1, unmatched_weights.end(), fits) != unmatched_weights.end())
        fail("'", file.path(), "': '", dataset, "' may be '", found->first,
             "' or another weight; nothing was loaded");
      const Variable weight = found->second;
      matches.push_back({dataset, weight, flipped_kernels.conversion_of(weight), found->first,
                         flipped_kernels.shape_conversion_of(weight)});
      unmatched_weights.erase(found);
    }
  Names missing;
  for (const auto& [path, weight] : unmatched_weights) missing.push_back(path);
  check_all_matched(file.path(), missing, unexpected);
  return matches;
}

Names arrays_of(WeightSource& file, const std::string& group) {
  Names arrays;
  for (const SavedLayer& layer : saved_layers(file, group))
    arrays.insert(arrays.end(), layer.datasets.begin(), layer.datasets.end());
  return arrays;
}

}  // namespace crescent::keras

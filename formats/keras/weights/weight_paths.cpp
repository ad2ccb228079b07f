#include "keras/weights/weight_paths.h"

#include <algorithm>
#include <map>
#include <set>

#include "keras/weights/names/ordered_names.h"

namespace crescent::keras {
namespace {

/// The last part of the path of a variable: its own name.
std::string name_of(const Variable& variable) {
  const std::string& name = variable.name();
  return name.substr(name.rfind('/') + 1);
}

void collect(std::map<const void*, std::string>& paths, const Layer& layer,
             const std::string& prefix) {
  auto* model = dynamic_cast<const Model*>(&layer);
  const std::vector<LayerPtr> inner_layers = model ? model->layers() : layer.sublayers();
  for (const Variable& variable : own_variables(layer, inner_layers))
    paths.emplace(variable.id(), prefix + name_of(variable));
  for (const LayerPtr& inner_layer : inner_layers)
    collect(paths, *inner_layer, prefix + inner_layer->name() + "/");
}

/// Adds the layers that have a vocabulary to `layers`, each with the path of the vocabulary among
/// the arrays.
void collect(std::vector<std::pair<std::string, Layer*>>& layers, Layer& layer,
             const std::string& prefix) {
  if (has_vocabulary(layer)) layers.emplace_back(prefix + "vocabulary", &layer);
  auto* model = dynamic_cast<const Model*>(&layer);
  for (const LayerPtr& inner_layer : model ? model->layers() : layer.sublayers())
    collect(layers, *inner_layer, prefix + inner_layer->name() + "/");
}

std::vector<std::pair<std::string, Layer*>> vocabularies_by_path(Model& model) {
  std::vector<std::pair<std::string, Layer*>> layers;
  collect(layers, model, "");
  return layers;
}

bool is_numbered(const Names& names) {
  const std::set<std::string> name_set(names.begin(), names.end());
  for (size_t i = 0; i < names.size(); ++i)
    if (!name_set.contains(concat("arr_", i))) return false;
  return !names.empty();
}

/// A list of names as text: "'a', 'b' and 3 more".
std::string text_of_names(const Names& names) {
  constexpr size_t kMaxListed = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMaxListed); ++i)
    text += concat(i == 0 ? "'" : ", '", names[i], "'");
  return names.size() > kMaxListed ? concat(text, " and ", names.size() - kMaxListed, " more")
                                   : text;
}

/// A map from names that arrays have in the model to the names that they have in the file.
using ArrayNames = std::map<std::string, std::string>;

bool has_all(const ArrayNames& arrays, const Names& paths) {
  return std::all_of(paths.begin(), paths.end(),
                     [&](const std::string& path) { return arrays.contains(path); });
}

/// Replaces the key of each array by a path of the model if both differ only in the counters of
/// default names ("dense_7" and "dense_2"). The keys of other arrays stay as they are; of two
/// arrays with the same new key, the first is kept.
ArrayNames matched_in_order(const ArrayNames& arrays, const Names& paths, Model& model) {
  const std::set<std::string> bases = default_names(model);
  Names names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  ArrayNames path_by_ordered_path, matched_arrays;
  for (const auto& [path, ordered_path] : ordered_paths(paths, bases))
    path_by_ordered_path[ordered_path] = path;
  for (const auto& [name, ordered_path] : ordered_paths(names, bases)) {
    const auto found = path_by_ordered_path.find(ordered_path);
    matched_arrays.emplace(found == path_by_ordered_path.end() ? name : found->second,
                           arrays.at(name));
  }
  return matched_arrays;
}

}  // namespace

void check_all_matched(const std::string& path, const Names& missing, const Names& unexpected) {
  if (missing.empty() && unexpected.empty()) return;
  fail("'", path,
       "': ", missing.empty() ? "" : concat("there is no array for ", text_of_names(missing)),
       missing.empty() || unexpected.empty() ? "" : "; ",
       unexpected.empty() ? "" : concat("the model has no weight ", text_of_names(unexpected)),
       "; nothing was loaded");
}

std::vector<std::pair<std::string, Variable>> weights_by_path(Model& model) {
  std::map<const void*, std::string> paths;
  collect(paths, model, "");
  std::set<std::string> used_names;
  std::vector<std::pair<std::string, Variable>> named_weights;
  for (const Variable& variable : model.weights_in_keras_order()) {
    const std::string& base_name = paths.at(variable.id());
    std::string name = base_name;
    for (int copy = 1; !used_names.insert(name).second; ++copy) name = concat(base_name, "_", copy);
    named_weights.emplace_back(name, variable);
  }
  return named_weights;
}

NamedTensors values_by_path(Model& model) {
  NamedTensors values;
  for (const auto& [path, variable] : weights_by_path(model))
    values.emplace_back(path, variable.value());
  for (const auto& [path, layer] : vocabularies_by_path(model))
    values.emplace_back(path, vocabulary_bytes(*layer));
  return values;
}

Matches match_by_path(WeightSource& file, Model& model, const Renaming& renaming,
                      Vocabularies& vocabularies) {
  check_built(model, file.path());
  const Names arrays = file.members("").value();
  renaming.expect_all_match(file.path(), arrays);
  const bool are_numbered = is_numbered(arrays);
  // the arrays that have not been matched yet
  ArrayNames unmatched_arrays;
  for (const std::string& array : arrays)
    if (!unmatched_arrays.emplace(renaming(array), array).second)
      fail("'", file.path(), "': rename makes two arrays '", renaming(array), "'");
  Matches matches;
  Names missing, required_paths;
  const auto weights = weights_by_path(model);
  for (const auto& [path, variable] : weights) required_paths.push_back(path);
  if (!are_numbered && !has_all(unmatched_arrays, required_paths)) {
    Names paths = required_paths;
    for (const auto& [path, layer] : vocabularies_by_path(model)) paths.push_back(path);
    ArrayNames ordered_arrays = matched_in_order(unmatched_arrays, paths, model);
    if (ordered_arrays.size() == unmatched_arrays.size() && has_all(ordered_arrays, required_paths))
      unmatched_arrays = std::move(ordered_arrays);
  }
  for (const auto& [path, variable] : weights) {
    const std::string name = are_numbered ? concat("arr_", matches.size() + missing.size()) : path;
    const auto found = unmatched_arrays.find(name);
    if (found == unmatched_arrays.end()) {
      missing.push_back(path);
      continue;
    }
    matches.push_back({found->second, variable, nullptr, path});
    unmatched_arrays.erase(found);
  }
  for (const auto& [path, layer] : vocabularies_by_path(model))
    if (const auto found = unmatched_arrays.find(path); found != unmatched_arrays.end()) {
      vocabularies.add_bytes(file, *layer, found->second);
      unmatched_arrays.erase(found);
    }
  Names unexpected;
  for (const auto& [name, array] : unmatched_arrays) unexpected.push_back(array);
  check_all_matched(file.path(), missing, unexpected);
  return matches;
}

}  // namespace crescent::keras

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
  for (const LayerPtr& inner : inner_layers) collect(paths, *inner, prefix + inner->name() + "/");
}

/// Adds the layers that have a vocabulary to `found`, each with the path of the vocabulary among
/// the arrays.
void collect(std::vector<std::pair<std::string, Layer*>>& found, Layer& layer,
             const std::string& prefix) {
  if (has_vocabulary(layer)) found.emplace_back(prefix + "vocabulary", &layer);
  auto* model = dynamic_cast<const Model*>(&layer);
  for (const LayerPtr& inner : model ? model->layers() : layer.sublayers())
    collect(found, *inner, prefix + inner->name() + "/");
}

std::vector<std::pair<std::string, Layer*>> vocabularies_by_path(Model& model) {
  std::vector<std::pair<std::string, Layer*>> found;
  collect(found, model, "");
  return found;
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
using ByName = std::map<std::string, std::string>;

bool has_all(const ByName& arrays, const Names& paths) {
  return std::all_of(paths.begin(), paths.end(),
                     [&](const std::string& path) { return arrays.contains(path); });
}

/// Replaces the key of each array by a path of the model if both differ only in the counters of
/// default names ("dense_7" and "dense_2"). The keys of other arrays stay as they are; of two
/// arrays with the same new key, the first is kept.
ByName matched_in_order(const ByName& arrays, const Names& paths, Model& model) {
  const std::set<std::string> bases = default_names(model);
  Names names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  ByName path_of, matched;
  for (const auto& [path, ordered] : in_order(paths, bases)) path_of[ordered] = path;
  for (const auto& [name, ordered] : in_order(names, bases)) {
    const auto found = path_of.find(ordered);
    matched.emplace(found == path_of.end() ? name : found->second, arrays.at(name));
  }
  return matched;
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
  std::vector<std::pair<std::string, Variable>> named;
  for (const Variable& variable : model.weights_in_keras_order()) {
    const std::string& base = paths.at(variable.id());
    std::string name = base;
    for (int copy = 1; !used_names.insert(name).second; ++copy) name = concat(base, "_", copy);
    named.emplace_back(name, variable);
  }
  return named;
}

NamedTensors values_by_path(Model& model) {
  NamedTensors values;
  for (const auto& [path, variable] : weights_by_path(model))
    values.emplace_back(path, variable.value());
  for (const auto& [path, layer] : vocabularies_by_path(model))
    values.emplace_back(path, vocabulary_bytes(*layer));
  return values;
}

Matches match_by_path(WeightSource& file, Model& model, const Renaming& renamed,
                      Vocabularies& vocabularies) {
  check_built(model, file.path());
  const Names arrays = file.members("").value();
  renamed.expect_all_match(file.path(), arrays);
  const bool numbered = is_numbered(arrays);
  // the arrays that have not been matched yet
  ByName left;
  for (const std::string& array : arrays)
    if (!left.emplace(renamed(array), array).second)
      fail("'", file.path(), "': rename makes two arrays '", renamed(array), "'");
  Matches matches;
  Names missing, required;
  const auto weights = weights_by_path(model);
  for (const auto& [path, variable] : weights) required.push_back(path);
  if (!numbered && !has_all(left, required)) {
    Names paths = required;
    for (const auto& [path, layer] : vocabularies_by_path(model)) paths.push_back(path);
    ByName ordered = matched_in_order(left, paths, model);
    if (ordered.size() == left.size() && has_all(ordered, required)) left = std::move(ordered);
  }
  for (const auto& [path, variable] : weights) {
    const std::string name = numbered ? concat("arr_", matches.size() + missing.size()) : path;
    const auto found = left.find(name);
    if (found == left.end()) {
      missing.push_back(path);
      continue;
    }
    matches.push_back({found->second, variable, nullptr, path});
    left.erase(found);
  }
  for (const auto& [path, layer] : vocabularies_by_path(model))
    if (const auto found = left.find(path); found != left.end()) {
      vocabularies.add_bytes(file, *layer, found->second);
      left.erase(found);
    }
  Names unexpected;
  for (const auto& [name, array] : left) unexpected.push_back(array);
  check_all_matched(file.path(), missing, unexpected);
  return matches;
}

}  // namespace crescent::keras

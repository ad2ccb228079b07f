#include "keras/model/inspection.h"

#include <algorithm>
#include <map>

#include "keras/model/feature_space.h"
#include "keras/model/own_attribute.h"
#include "keras/vocabulary/objects.h"
#include "keras/weights/keras3_weights.h"
#include "keras/weights/names/group_names.h"

namespace crescent::keras {
namespace {

/// The largest depth of groups and number of visited objects, since in a damaged file a group may
/// contain itself.
constexpr size_t kMaxDepth = 32, kMaxObjects = 200'000;

Value json_of(WeightSource& file, const char* name) {
  const auto text = file.text("", name);
  if (!text) return {};
  try {
    return parse_json(*text);
  } catch (const Error& error) {
    fail("'", file.path(), "': '", name, "' is no valid JSON: ", error.what());
  }
}

const Value& value_at(const Value& dict, std::string_view key) {
  static const Value null_value;
  const Value* value = dict.is_dict() ? dict.as_dict().find(key) : nullptr;
  return value ? *value : null_value;
}

// ---- layers of the summary

/// A layer that was found in the configuration or as a group of weights.
struct LayerDescription {
  std::string name, class_name;
  Value inner_layers;  ///< the names and classes of the layers in a nested model
};

std::vector<LayerDescription> layers_in(const Value& model);

Value list_of(const std::vector<LayerDescription>& layers) {
  List list;
  for (const LayerDescription& layer : layers) {
    Dict entry{{"name", layer.name}, {"class", layer.class_name}};
    if (!layer.inner_layers.is_null()) entry.set("layers", layer.inner_layers);
    list.push_back(std::move(entry));
  }
  return list;
}

/// The layers in the configuration of a model; before Keras 2.2.3 the configuration of a Sequential
/// was a plain list.
std::vector<LayerDescription> layers_in(const Value& model) {
  const Value& config = value_at(model, "config");
  const Value& layers = config.is_list() ? config : value_at(config, "layers");
  std::vector<LayerDescription> descriptions;
  if (!layers.is_list()) return descriptions;
  for (const Value& layer : layers.as_list()) {
    if (!is_object(layer)) continue;
    const std::vector<LayerDescription> inner_layers = layers_in(layer);
    descriptions.push_back({name_of_layer(layer.as_dict()), class_of(layer),
                            inner_layers.empty() ? Value() : list_of(inner_layers)});
  }
  return descriptions;
}

// ---- weights of the summary

/// A layer and the datasets that hold its weights.
struct LayerDatasets {
  std::string layer;
  Names names, datasets;
};

[[noreturn]] void fail_endless(const WeightSource& file, const std::string& group) {
  fail("'", file.path(), "': '/", group, "' is too deep, or there is too much in it");
}

std::vector<LayerDatasets> keras2_datasets(WeightSource& file, const std::string& group) {
  const std::string prefix = group.empty() ? "" : group + "/";
  const Names layers = file.texts(group, "layer_names").value();
  Names groups;
  for (const std::string& layer : layers) groups.push_back(prefix + layer);
  const auto weights = file.texts(groups, "weight_names");
  std::vector<LayerDatasets> datasets_by_layer;
  for (size_t i = 0; i < layers.size(); ++i) {
    LayerDatasets& layer_datasets = datasets_by_layer.emplace_back();
    layer_datasets.layer = layers[i];
    layer_datasets.names = weights[i].value_or(Names{});
    for (const std::string& name : layer_datasets.names)
      layer_datasets.datasets.push_back(groups[i] + "/" + name);
  }
  return datasets_by_layer;
}

/// Collects the datasets with variables of a group and its subgroups; the names of these datasets
/// are numbers.
void collect_datasets(WeightSource& file, const std::string& group,
                      const std::string& relative_path, size_t depth, LayerDatasets& layer_datasets,
                      size_t& visited_count) {
  if (depth > kMaxDepth) fail_endless(file, group);
  for (const std::string& member : file.members(group).value_or(Names{})) {
    if (++visited_count > kMaxObjects) fail_endless(file, group);
    const std::string path = group + "/" + member;
    if (member != "vars") {
      collect_datasets(file, path, relative_path + member + "/", depth + 1, layer_datasets,
                       visited_count);
      continue;
    }
    const size_t count = file.members(path).value_or(Names{}).size();
    for (size_t i = 0; i < count; ++i) {
      layer_datasets.names.push_back(concat(relative_path, "vars/", i));
      layer_datasets.datasets.push_back(concat(path, "/", i));
    }
  }
}

/// The datasets of each layer in the layout of Keras 3. The name of a group determines its layer:
/// "conv2d_1" is the second Conv2D of the model. Groups outside of the group of layers are
/// attributes of the model's class.
std::vector<LayerDatasets> keras3_datasets(WeightSource& file,
                                           const std::vector<LayerDescription>& descriptions) {
  const std::string root = file.members("layers") ? "layers" : "_layer_checkpoint_dependencies";
  std::map<std::string, std::string> names;  // names of layers by group
  GroupNames groups(file, root);
  for (const LayerDescription& layer : descriptions)
    names[groups.next(layer.class_name)] = layer.name;
  std::vector<LayerDatasets> datasets_by_layer;
  size_t visited_count = 0;
  for (const std::string& group : file.members(root).value_or(Names{})) {
    LayerDatasets& layer_datasets = datasets_by_layer.emplace_back();
    const auto found = names.find(group);
    layer_datasets.layer = found == names.end() ? group : found->second;
    collect_datasets(file, root + "/" + group, "", 0, layer_datasets, visited_count);
  }
  for (const std::string& attribute : file.members("").value_or(Names{})) {
    const bool is_no_layer = attribute == root || attribute == "vars" || attribute == "optimizer" ||
                             attribute.starts_with("crescent");
    if (is_no_layer) continue;
    LayerDatasets& layer_datasets = datasets_by_layer.emplace_back();
    layer_datasets.layer = attribute;
    collect_datasets(file, attribute, "", 0, layer_datasets, visited_count);
  }
  return datasets_by_layer;
}

std::optional<std::vector<LayerDatasets>> datasets_of_layers(
    WeightSource& file, const std::vector<LayerDescription>& descriptions) {
  for (const char* group : {"model_weights", ""})
    if (file.texts(group, "layer_names")) return keras2_datasets(file, group);
  if (has_keras3_weights(file)) return keras3_datasets(file, descriptions);
  return std::nullopt;
}

/// Adds the list of weights to each layer of the summary, and the total number of parameters to the
/// summary.
void add_weights(WeightSource& file, Dict& result,
                 const std::vector<LayerDescription>& descriptions,
                 const std::vector<LayerDatasets>& datasets_by_layer) {
  Names datasets;
  for (const LayerDatasets& layer_datasets : datasets_by_layer)
    datasets.insert(datasets.end(), layer_datasets.datasets.begin(), layer_datasets.datasets.end());
  const std::vector<TensorSpec> specs = file.describe(datasets);
  std::map<std::string, Dict> weights;
  int64_t parameter_count = 0, byte_count = 0;
  auto next_spec = specs.begin();
  for (const LayerDatasets& layer_datasets : datasets_by_layer) {
    List list;
    int64_t layer_parameter_count = 0;
    for (const std::string& name : layer_datasets.names) {
      layer_parameter_count += next_spec->shape.size();
      byte_count += next_spec->shape.size() * static_cast<int64_t>(size_of(next_spec->dtype));
      list.push_back(array_summary(name, *next_spec++));
    }
    parameter_count += layer_parameter_count;
    weights[layer_datasets.layer] =
        Dict{{"parameters", layer_parameter_count}, {"weights", std::move(list)}};
  }
  List layers = list_of(descriptions).as_list();
  for (const LayerDatasets& layer_datasets : datasets_by_layer)
    if (std::none_of(descriptions.begin(), descriptions.end(), [&](const LayerDescription& layer) {
          return layer.name == layer_datasets.layer;
        }))
      layers.push_back(Dict{{"name", layer_datasets.layer}});
  for (Value& layer : layers)
    if (const auto found = weights.find(layer.as_dict().at("name").as_string());
        found != weights.end())
      for (const DictEntry& entry : found->second) layer.as_dict().set(entry.key, entry.value);
  result.set("layers", std::move(layers));
  result.set("parameters", parameter_count);
  result.set("bytes_of_weights", byte_count);
}

// ---- plugins and training of the summary

/// The version of each plugin, from a table {class = [plugin, version]}; without built-in plugins.
Dict plugins_in(const Value& plugins_by_class) {
  Dict plugins;
  if (!plugins_by_class.is_dict()) return plugins;
  for (const DictEntry& entry : plugins_by_class.as_dict()) {
    const bool is_pair = entry.value.is_list() && entry.value.as_list().size() == 2;
    if (!is_pair || !entry.value.as_list().front().is_string()) continue;
    const std::string plugin = entry.value.as_list().front().as_string();
    const Value version = Value(entry.value.as_list().back());
    if (!plugins.contains(plugin))
      plugins.set(plugin, Dict{{"version", version}, {"classes", List{}}});
    plugins[plugin].as_dict()["classes"].as_list().push_back(entry.key);
  }
  return plugins;
}

void add_training(WeightSource& file, Dict& result, const Value& compile) {
  const Value& saved_optimizer = value_at(compile, "optimizer");
  const Value& optimizer =
      saved_optimizer.is_null() ? value_at(compile, "optimizer_config") : saved_optimizer;
  const auto weight_names = file.texts("optimizer_weights", "weight_names");
  const auto optimizer_members = file.members(kOptimizerGroup);
  const size_t array_count = weight_names        ? weight_names->size()
                             : optimizer_members ? optimizer_members->size()
                                                 : 0;
  result.set("compiled", compile.is_dict());
  if (!optimizer.is_null()) result.set("optimizer", optimizer);
  if (array_count > 0) result.set("optimizer_arrays", static_cast<int64_t>(array_count));
  for (const char* key : {"loss", "metrics", "weighted_metrics", "loss_weights"})
    if (const Value& value = value_at(compile, key); !value.is_null()) result.set(key, value);
}

}  // namespace

Dict array_summary(const std::string& name, const TensorSpec& spec) {
  return {{"name", name},
          {"dtype", Codec<DType>::encode(spec.dtype)},
          {"shape", List(spec.shape.begin(), spec.shape.end())}};
}

std::optional<Dict> inspect(WeightSource& file) {
  const Value own_description = json_of(file, kOwnAttribute), model = json_of(file, "model_config");
  const std::vector<LayerDescription> descriptions =
      layers_in(model.is_null() ? value_at(own_description, "model") : model);
  const auto datasets_by_layer = datasets_of_layers(file, descriptions);
  if (!datasets_by_layer && model.is_null()) return std::nullopt;
  Dict result{{"kind", model.is_null() ? "weights" : "model"}};
  const std::string keras_version = file.text("", "keras_version").value_or("");
  if (own_description.is_dict())
    result.set("written_by",
               concat("Crescent ", value_at(own_description, "version").is_string()
                                       ? value_at(own_description, "version").as_string()
                                       : ""));
  else if (!keras_version.empty())
    result.set("written_by", "Keras " + keras_version);
  if (!keras_version.empty()) result.set("keras_version", keras_version);
  if (const auto backend = file.text("", "backend")) result.set("backend", *backend);
  if (is_object(model)) {
    result.set("class", class_of(model));
    result.set("name", name_of_layer(model.as_dict()));
  }
  if (is_object(model) && class_of(model) == kFeatureSpace) {
    for (const DictEntry& entry : inspect_feature_space(config_of(model.as_dict())))
      result.set(entry.key, entry.value);
    result.set("name", file.text("vars", "name").value_or(""));
  }
  if (datasets_by_layer) add_weights(file, result, descriptions, *datasets_by_layer);
  const Value compile = own_description.is_dict() ? value_at(own_description, "compile")
                                                  : json_of(file, "training_config");
  add_training(file, result, compile);
  if (const Value& epochs = value_at(own_description, "epochs_trained"); epochs.is_int())
    result.set("epochs_trained", epochs);
  result.set("plugins", plugins_in(value_at(own_description, "plugins")));
  return result;
}

Dict inspect_arrays(List arrays) {
  int64_t number_count = 0;
  for (const Value& array : arrays) {
    int64_t product = 1;
    for (const Value& dim : array.as_dict().at("shape").as_list()) product *= dim.as_int();
    number_count += product;
  }
  return {{"kind", "arrays"}, {"numbers", number_count}, {"arrays", std::move(arrays)}};
}

Dict inspect(NamedArrays& file) {
  const Names names = file.members("").value();
  const std::vector<TensorSpec> specs = file.describe(names);
  List arrays;
  for (size_t i = 0; i < names.size(); ++i) arrays.push_back(array_summary(names[i], specs[i]));
  return inspect_arrays(std::move(arrays));
}

}  // namespace crescent::keras

#include "keras/weights/keras3_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "keras/graphs/operation_nodes.h"
#include "keras/weights/names/group_names.h"
#include "keras/weights/vocabularies.h"

namespace crescent::keras {
namespace {

/// The name of the group with the layers of a model, and the name that this group has in the first
/// versions of tf.keras with this layout.
constexpr const char *kLayers = "layers", *kOldLayers = "_layer_checkpoint_dependencies";

/// The beginning of the names of groups for inner layers that are no attributes of the outer layer
/// in Keras; a number follows.
constexpr const char* kNumberedPrefix = "layer_";

/// The attribute in which a layer of Keras stores an inner layer. The inner layer is found by
/// `name` or, if that is null, by its index among the inner layers. An attribute that ends with "/"
/// ("cells/") is a list of all inner layers, each named by class and number.
struct InnerAttribute {
  const char *class_name, *name, *attribute;
};
constexpr InnerAttribute kInnerAttributes[] = {
    {"SimpleRNN", nullptr, "cell"},
    {"LSTM", nullptr, "cell"},
    {"GRU", nullptr, "cell"},
    {"RNN", nullptr, "cell"},
    {"ConvLSTM1D", nullptr, "cell"},
    {"ConvLSTM2D", nullptr, "cell"},
    {"ConvLSTM3D", nullptr, "cell"},
    {"StackedRNNCells", nullptr, "cells/"},
    {"Wrapper", nullptr, "layer"},
    {"TimeDistributed", nullptr, "layer"},
    {"SpectralNormalization", nullptr, "layer"},
    {"Bidirectional", nullptr, "forward_layer"},
    {"Bidirectional", nullptr, "backward_layer"},
    {"MultiHeadAttention", "query", "query_dense"},
    {"MultiHeadAttention", "key", "key_dense"},
    {"MultiHeadAttention", "value", "value_dense"},
    {"MultiHeadAttention", "gate", "_gate_dense"},
    {"MultiHeadAttention", "attention_output", "output_dense"},
    {"GroupedQueryAttention", "query", "_query_dense"},
    {"GroupedQueryAttention", "key", "_key_dense"},
    {"GroupedQueryAttention", "value", "_value_dense"},
    {"GroupedQueryAttention", "gate", "_gate_dense"},
    {"GroupedQueryAttention", "attention_output", "_output_dense"},
};

/// The name of the attribute in which a layer of the class `class_name` stores `inner_layer`, its
/// inner layer with this index; empty if Keras has no such attribute.
std::string attribute_of(const std::string& class_name, const Layer& inner_layer, size_t index) {
  size_t next_index = 0;
  for (const InnerAttribute& row : kInnerAttributes) {
    if (class_name != row.class_name) continue;
    const bool is_list = std::string_view(row.attribute).ends_with('/');
    if (row.name ? inner_layer.name() == row.name : is_list || next_index++ == index)
      return row.attribute;
  }
  return "";
}

/// The property that lists the inner layers by the names of their attributes in Keras; each value
/// is a layer, or a nested list of layers. Classes written in Lua have this property, and classes
/// of plugins may have it.
constexpr const char* kLayersByAttribute = "layers_by_attribute";

Dict attributes_of(const Layer& layer) {
  if (layer.info() && layer.info()->schema.find_property(kLayersByAttribute))
    return layer.get_property(kLayersByAttribute).as_dict();
  Dict attributes;
  for (size_t i = 0; i < layer.sublayers().size(); ++i) {
    const Value inner_layer(layer.sublayers()[i]);
    std::string name = attribute_of(layer.class_name(), *layer.sublayers()[i], i);
    if (name.empty()) continue;
    if (!name.ends_with('/')) {
      attributes.set(name, inner_layer);
      continue;
    }
    name.pop_back();
    if (!attributes.contains(name)) attributes.set(name, List());
    attributes[name].as_list().push_back(inner_layer);
  }
  return attributes;
}

/// The keys of `attributes` and the given `names`, sorted in the order in which Keras visits them:
/// names that begin with "_" come last.
Names in_visiting_order(const Dict& attributes, Names names) {
  for (const DictEntry& entry : attributes) names.push_back(entry.key);
  const auto sort_key = [](const std::string& name) {
    return name.starts_with('_') ? "~" + name : name;
  };
  std::sort(names.begin(), names.end(),
            [&](const std::string& a, const std::string& b) { return sort_key(a) < sort_key(b); });
  return names;
}

/// Whether Keras visits the layers of the model before the model's other attributes.
bool begins_with_layers(const Model& model) {
  return model.is_graph() || dynamic_cast<const Functional*>(&model);
}

/// The low-rank adapter (LoRA) of a layer; null if it has none. In Keras the adapter is a part of
/// the layer.
const Layer* adapter_of(const Layer& layer) {
  for (const LayerPtr& sublayer : layer.sublayers())
    if (sublayer->class_name() == "LoraAdapter") return sublayer.get();
  return nullptr;
}

/// Whether the adapter changes the output of its layer: its second matrix is not zero.
bool is_trained(const Layer& adapter) {
  return ops::any(ops::not_equal(adapter.weights()[1], 0)).item() != 0;
}

/// The value of a weight as Keras stores it: if the layer has an adapter, the product of the
/// adapter's matrices is added.
Tensor merged_value(const Layer& layer, const Variable& weight) {
  if (!adapter_of(layer)) return weight.value();
  const Value merged_weights = layer.get_property("merged_weights");
  const Value* found = merged_weights.as_dict().find(weight.name());
  return found ? Codec<Tensor>::decode(*found) : weight.value();
}

/// Warns if the term of a trained adapter is added to a weight of few bits, which rounds the sum.
void warn_of_rounding(const Layer& layer) {
  if (!adapter_of(layer) || !is_trained(*adapter_of(layer))) return;
  const double rounding_error = layer.get_property("merge_error").as_float();
  if (rounding_error > 0)
    warn("Layer '", layer.name(),
         "': files of Keras have the weight with its adapter added, which "
         "is rounded to few bits again: its elements differ by up to ",
         rounding_error, " from those of the layer.");
}

bool is_narrow_kernel(const Variable& variable) {
  return variable.name() == "kernel" && variable.dtype() == DType::int8;
}

/// The variables that belong to the layer in Keras, in the order of Keras. For a
/// SpectralNormalization these include the kernel of the inner layer. A quantized kernel comes
/// before the bias, although it is not trainable.
Variables variables_of(const Layer& layer, const std::vector<LayerPtr>& inner_layers) {
  Variables own_weights = own_variables(layer, inner_layers);
  if (own_weights.size() > 1 && own_weights[0].name() == "bias" && is_narrow_kernel(own_weights[1]))
    std::swap(own_weights[0], own_weights[1]);
  if (layer.class_name() == "SpectralNormalization" && !own_weights.empty())
    own_weights.insert(own_weights.begin(), inner_layers.front()->weights().front());
  return own_weights;
}

/// A layer, its variables, and the path of the group that stores them.
struct ObjectLocation {
  std::string path;
  const Layer* layer;
  Variables variables;
};

class ObjectLocations {
 public:
  /// Finds the layers and the paths of their groups in `file` or, if it is null, in a file that is
  /// to be written.
  ObjectLocations(WeightSource* file, const Model& model, SkippedLayers skipped_layers = {})
      : file_(file), skipped_layers_(std::move(skipped_layers)) {
    add(model, "");
  }
  ObjectLocations(WeightSource* file, const LayerList& list) : file_(file) {
    add_layers(list.layers, list.group);
  }
  std::vector<ObjectLocation> take_locations() { return std::move(locations_); }
  /// The groups of layers in the file for which the model has no layer.
  const Names& unmatched_groups() const { return unmatched_groups_; }

 private:
  /// Adds a layer and its parts unless the layer was added before. With `even_if_visited` it is
  /// added nevertheless: if several graphs share a layer, Keras makes a separate layer of each
  /// occurrence.
  void add(const Layer& layer, const std::string& path, bool even_if_visited = false) {
    if (skipped_layers_.contains(&layer)) return;
    if (!visited_layers_.insert(&layer).second && !even_if_visited) return;
    locations_.push_back({path + "vars", &layer, variables_of(layer, layer.sublayers())});
    if (auto* model = dynamic_cast<const Model*>(&layer))
      add_inner_layers(*model, path);
    else
      add_inner_layers(layer, path);
  }

  void add_inner_layers(const Model& model, const std::string& path) {
    const std::string layers = group_of_layers(path);
    const bool layers_come_first = begins_with_layers(model);
    const bool even_if_visited = !file_ && model.is_graph();
    if (layers_come_first) add_layers(model.operations(), path + layers, even_if_visited);
    const Dict attributes = attributes_of(model);
    for (const std::string& name :
         in_visiting_order(attributes, layers_come_first ? Names{} : Names{layers}))
      if (name == layers) add_layers(model.operations(), path + layers, even_if_visited);
      // if the file has no group for the attribute, its layer is in the group of layers
      else if (!file_ || file_->members(path + name))
        add_attribute(attributes.at(name), path + name);
  }

  /// The name of the group of a model's layers.
  std::string group_of_layers(const std::string& path) const {
    const bool is_old =
        file_ && !file_->members(path + kLayers) && file_->members(path + kOldLayers);
    return is_old ? kOldLayers : kLayers;
  }

  void add_inner_layers(const Layer& layer, const std::string& path) {
    const Dict attributes = attributes_of(layer);
    for (const std::string& name : in_visiting_order(attributes, {})) {
      const std::string location = path + stored_name(path, name);
      if (!file_ || file_->members(location) || !has_numbered_layers(path))
        add_attribute(attributes.at(name), location);
    }
    const std::vector<LayerPtr>& inner_layers = layer.sublayers();
    for (size_t i = 0; i < inner_layers.size(); ++i)
      if (inner_layers[i].get() != adapter_of(layer))
        add(*inner_layers[i], concat(path, kNumberedPrefix, i, "/"));
  }

  void add_attribute(const Value& layer_or_list, const std::string& path) {
    if (!layer_or_list.is_list()) return add(*layer_or_list.object_as<Layer>(), path + "/");
    // an item that is itself a list gets a name with a number, too
    GroupNames names = group_names(path);
    for (const Value& item : layer_or_list.as_list())
      add_attribute(
          item,
          concat(path, "/",
                 names.next(item.is_list() ? "container" : item.object_as<Layer>()->class_name())));
  }

  /// The name of an attribute in the file. In tf.keras some attributes begin with "_" whose names
  /// in Keras 3 do not, or the other way round.
  std::string stored_name(const std::string& path, const std::string& attribute) const {
    const std::string other_name =
        attribute.starts_with('_') ? attribute.substr(1) : "_" + attribute;
    const bool has_other_name =
        file_ && !file_->members(path + attribute) && file_->members(path + other_name);
    return has_other_name ? other_name : attribute;
  }

  /// Whether the file names the inner layers by numbers, as earlier versions of Crescent did for
  /// classes of the user.
  bool has_numbered_layers(const std::string& path) const {
    return file_->members(concat(path, kNumberedPrefix, 0)).has_value();
  }

  GroupNames group_names(const std::string& path) const {
    return file_ ? GroupNames(*file_, path) : GroupNames();
  }

  /// Adds the layers of a list, without calls of operations, which are not layers in Keras.
  void add_layers(const std::vector<LayerPtr>& layers, const std::string& path,
                  bool even_if_visited = false) {
    GroupNames names = group_names(path);
    std::set<std::string> used_names;
    for (const LayerPtr& layer : layers) {
      if (layer->class_name() == kOperationLayer) continue;
      const std::string name = names.next(layer->class_name());
      used_names.insert(name);
      add(*layer, concat(path, "/", name, "/"), even_if_visited);
    }
    const auto members = file_ ? file_->members(path) : std::nullopt;
    for (const std::string& name : members.value_or(Names{}))
      if (!used_names.contains(name)) unmatched_groups_.push_back(path + "/" + name);
  }

  WeightSource* file_ = nullptr;
  SkippedLayers skipped_layers_;
  std::vector<ObjectLocation> locations_;
  Names unmatched_groups_;
  std::set<const Layer*> visited_layers_;
};

/// The number of the layer's variables in the file. Variables that only Keras stores are not
/// counted: the weights of a vocabulary (vocabularies.h) and the summary of a Discretization.
size_t count_variables(WeightSource& file, const ObjectLocation& location) {
  const Names members = file.members(location.path).value_or(Names{});
  if (location.layer->class_name() == "Discretization") return 0;
  return members.size() -
         static_cast<size_t>(std::count(members.begin(), members.end(), kIdfWeights));
}

/// The part of the message about a missing group that lists the members of the nearest group above
/// `path` that exists.
std::string nearest_contents(WeightSource& file, const std::string& path) {
  if (file.members(path)) return "";
  std::string group = path.substr(0, path.rfind('/'));
  while (!group.empty() && !file.members(group))
    group = group.substr(0, group.rfind('/') == group.npos ? 0 : group.rfind('/'));
  Names names = file.members(group).value_or(Names{});
  std::erase(names, "vars");
  return concat("; '/", group, "' of the file has [", join(names), "]");
}

std::string names_of(const Variables& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back("'" + variable.name() + "'");
  return "[" + join(names) + "]";
}

}  // namespace

namespace {

void write_objects(Entries& entries, const std::vector<ObjectLocation>& locations) {
  for (const ObjectLocation& location : locations) {
    entries.push_back({location.path, {{"name", location.layer->name()}}});
    if (saves_own_state(*location.layer)) {
      for (const DictEntry& array_entry : own_state(*location.layer))
        entries.push_back({concat(location.path, "/", array_entry.key),
                           {},
                           Codec<Tensor>::decode(array_entry.value)});
      continue;
    }
    warn_of_rounding(*location.layer);
    for (size_t i = 0; i < location.variables.size(); ++i)
      entries.push_back({concat(location.path, "/", i),
                         {},
                         merged_value(*location.layer, location.variables[i])});
    write_idf_weights(entries, *location.layer, location.path);
  }
}

/// For each layer in `locations` that is also in `flat_layers`: the path of its group.
LayerPaths paths_of(const std::vector<ObjectLocation>& locations,
                    const std::vector<Layer*>& flat_layers) {
  std::map<const Layer*, Layer*> layers;
  for (Layer* layer : flat_layers) layers.emplace(layer, layer);
  LayerPaths paths;
  for (const ObjectLocation& location : locations)
    if (const auto found = layers.find(location.layer); found != layers.end())
      paths.emplace_back(location.path.substr(0, location.path.size() - strlen("vars")),
                         found->second);
  return paths;
}

}  // namespace

void write_keras3_weights(Entries& entries, Model& model, const SkippedLayers& skipped_layers) {
  write_objects(entries, ObjectLocations(nullptr, model, skipped_layers).take_locations());
}

void write_keras3_weights(Entries& entries, const LayerList& list) {
  write_objects(entries, ObjectLocations(nullptr, list).take_locations());
}

LayerPaths keras3_paths(WeightSource* file, Model& model) {
  return paths_of(ObjectLocations(file, model).take_locations(), model.flatten_layers());
}

LayerPaths keras3_paths(WeightSource* file, const LayerList& list) {
  std::vector<Layer*> flat_layers;
  for (const LayerPtr& layer : list.layers)
    for (Layer* nested_layer : layer->flatten_layers()) flat_layers.push_back(nested_layer);
  return paths_of(ObjectLocations(file, list).take_locations(), flat_layers);
}

bool has_keras3_weights(WeightSource& file) {
  if (file.texts("", "layer_names")) return false;  // a layer may have the name "layers"
  return file.members(kLayers) || file.members(kOldLayers) || file.members("vars");
}

namespace {

/// Matches the arrays of a layer whose class loads its state itself. Each array is matched with a
/// temporary variable, which receives the value.
Matches match_own_state(WeightSource& file, const ObjectLocation& location) {
  Names datasets = file.members(location.path).value_or(Names{});
  for (std::string& name : datasets) name = concat(location.path, "/", name);
  const std::vector<TensorSpec> specs = file.describe(datasets);
  Matches matches;
  for (size_t i = 0; i < datasets.size(); ++i)
    matches.push_back({.dataset = datasets[i],
                       .variable = Variable(Tensor(specs[i].shape, specs[i].dtype)),
                       .layer = location.layer->name(),
                       .self_loading_layer = const_cast<Layer*>(location.layer)});
  return matches;
}

Matches match_objects(WeightSource& file, const std::vector<ObjectLocation>& locations,
                      bool skip_mismatch) {
  Matches matches;
  for (const ObjectLocation& location : locations) {
    if (saves_own_state(*location.layer)) {
      append(matches, match_own_state(file, location));
      continue;
    }
    const size_t expected_count = location.variables.size();
    const size_t saved_count = count_variables(file, location);
    if (saved_count != expected_count && skip_mismatch) {
      warn("Skipping loading of weights for layer ", location.layer->name(),
           " due to mismatch in number of weights (", expected_count, " vs ", saved_count, ").");
      continue;
    }
    if (saved_count != expected_count)
      fail("'", file.path(), "': '/", location.path, "': Layer '", location.layer->name(),
           "' expected ", expected_count, " variables, but received ", saved_count,
           " variables during loading. Expected: ", names_of(location.variables),
           nearest_contents(file, location.path),
           location.layer->built() ? ""
                                   : " (it is not built: the model was never called in training)",
           "; nothing was loaded");
    for (size_t i = 0; i < expected_count; ++i)
      matches.push_back(
          {concat(location.path, "/", i), location.variables[i], nullptr, location.layer->name()});
    if (const Layer* adapter = adapter_of(*location.layer); adapter && expected_count > 0)
      matches.back().adapter = adapter->weights()[1];
  }
  return matches;
}

}  // namespace

namespace {

/// Whether this group, or a group inside it, has variables. A group contains other groups, and its
/// own variables in the group "vars".
bool has_variables(WeightSource& file, const std::string& group) {
  const std::string vars_group = group + "/vars";
  if (!file.members(vars_group).value_or(Names{}).empty()) return true;
  const Names members = file.members(group).value_or(Names{});
  return std::any_of(members.begin(), members.end(), [&](const std::string& name) {
    return name != "vars" && has_variables(file, group + "/" + name);
  });
}

/// The text with which messages name a group: "layers/dense_2 ('b')".
std::string group_text(WeightSource& file, const std::string& group) {
  const auto name = file.text(group + "/vars", "name");
  return name ? concat(group, " ('", *name, "')") : group;
}

/// Fails if the file has weights of layers that the model lacks.
void check_unmatched_groups(WeightSource& file, const Model& model, const Names& unmatched_groups,
                            bool skip_mismatch) {
  Names extra_groups;
  for (const std::string& group : unmatched_groups)
    if (has_variables(file, group)) extra_groups.push_back(group_text(file, group));
  if (extra_groups.empty()) return;
  if (!skip_mismatch)
    fail("'", file.path(), "': the file has weights of layers that model ", model.name(),
         " does not have: ", join(extra_groups),
         "; nothing was loaded (skip_mismatch = true leaves them)");
  warn("'", file.path(), "': Skipping weights of layers that model ", model.name(),
       " does not have: ", join(extra_groups));
}

/// Fails for a model that is not built if the file has weights of its layers.
void check_built_for(WeightSource& file, const Model& model,
                     const std::vector<ObjectLocation>& locations) {
  const bool has_weights = std::any_of(locations.begin(), locations.end(), [&](const auto& each) {
    return count_variables(file, each) > 0;
  });
  if (has_weights) check_built(model, file.path());
}

}  // namespace

Matches match_keras3_weights(WeightSource& file, Model& model) {
  const std::vector<ObjectLocation> locations = ObjectLocations(&file, model).take_locations();
  check_built_for(file, model, locations);
  return match_objects(file, locations, false);
}

Matches match_all_keras3_weights(WeightSource& file, Model& model, bool skip_mismatch,
                                 const SkippedLayers& skipped_layers) {
  ObjectLocations object_locations(&file, model, skipped_layers);
  const Names unmatched_groups = object_locations.unmatched_groups();
  const std::vector<ObjectLocation> locations = object_locations.take_locations();
  check_built_for(file, model, locations);
  check_unmatched_groups(file, model, unmatched_groups, skip_mismatch);
  return match_objects(file, locations, skip_mismatch);
}

Matches match_keras3_weights(WeightSource& file, const LayerList& list) {
  return match_objects(file, ObjectLocations(&file, list).take_locations(), false);
}

}  // namespace crescent::keras

#include "keras/weights/keras3_weights.h"

#include <map>
#include <set>

namespace crescent::keras {
namespace {

/// The group that a model's layers are in, and its name in the tf.keras that first had this layout.
constexpr const char *kLayers = "layers", *kOldLayers = "_layer_checkpoint_dependencies";

/// Names of the attributes in which Keras' layers keep the layers inside them, in our order. An
/// attribute that is a list ("cells/") has its layers by class and number.
struct Inner {
  const char* class_name;
  std::vector<const char*> attributes;
};
const Inner kInner[] = {
    {"SimpleRNN", {"cell"}},
    {"LSTM", {"cell"}},
    {"GRU", {"cell"}},
    {"RNN", {"cell"}},
    {"ConvLSTM1D", {"cell"}},
    {"ConvLSTM2D", {"cell"}},
    {"ConvLSTM3D", {"cell"}},
    {"StackedRNNCells", {"cells/"}},
    {"TimeDistributed", {"layer"}},
    {"SpectralNormalization", {"layer"}},
    {"Bidirectional", {"forward_layer", "backward_layer"}},
    {"MultiHeadAttention", {"query_dense", "key_dense", "value_dense", "output_dense"}},
    {"GroupedQueryAttention", {"_query_dense", "_key_dense", "_value_dense", "_output_dense"}},
};

/// Layers in a list have the snake case of their class as a name, and from the second of a class on
/// a number.
class NamesInList {
 public:
  std::string next(const Layer& layer) {
    const std::string name = to_snake_case(layer.class_name());
    const int before = count_[name]++;
    return before == 0 ? name : concat(name, "_", before);
  }

 private:
  std::map<std::string, int> count_;
};

/// Paths of the layers inside one that is no model, from its own on.
std::vector<std::string> inner_paths(const Layer& layer) {
  const std::vector<LayerPtr>& inside = layer.sublayers();
  const Inner* known = nullptr;
  for (const Inner& row : kInner)
    if (layer.class_name() == row.class_name) known = &row;
  NamesInList names;
  std::vector<std::string> paths;
  for (size_t i = 0; i < inside.size(); ++i) {
    const std::string last = known ? known->attributes.back() : "";
    if (last.ends_with('/'))
      paths.push_back(last + names.next(*inside[i]));
    else if (known && i < known->attributes.size())
      paths.push_back(known->attributes[i]);
    else
      paths.push_back(concat("layer_", i));
  }
  return paths;
}

/// One object's variables and where they are.
struct Place {
  std::string path;
  const Layer* layer;
  Variables variables;
};

class Places {
 public:
  Places(const Model& model, const std::string& group) : group_(group) { add(model, ""); }
  std::vector<Place> take() { return std::move(places_); }

 private:
  void add(const Layer& layer, const std::string& path) {
    if (!seen_.insert(&layer).second) return;  // a layer is where it is met first
    auto* model = dynamic_cast<const Model*>(&layer);
    const std::vector<LayerPtr> inside = model ? model->layers() : layer.sublayers();
    places_.push_back({path + "vars", &layer, own_variables(layer, inside)});
    if (model) return add_layers(inside, path + group_ + "/");
    const std::vector<std::string> paths = inner_paths(layer);
    for (size_t i = 0; i < inside.size(); ++i) add(*inside[i], path + paths[i] + "/");
  }

  /// Calls of operations are no layers to Keras.
  void add_layers(const std::vector<LayerPtr>& layers, const std::string& path) {
    NamesInList names;
    for (const LayerPtr& layer : layers)
      if (layer->class_name() != "OperationLayer") add(*layer, path + names.next(*layer) + "/");
  }

  std::string group_;
  std::vector<Place> places_;
  std::set<const Layer*> seen_;
};

std::string names_of(const Variables& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back("'" + variable.name() + "'");
  return "[" + join(names) + "]";
}

}  // namespace

void write_keras3_weights(Entries& entries, Model& model) {
  for (const Place& place : Places(model, kLayers).take()) {
    entries.push_back({place.path, {{"name", place.layer->name()}}});
    for (size_t i = 0; i < place.variables.size(); ++i)
      entries.push_back({concat(place.path, "/", i), {}, place.variables[i].value()});
  }
}

bool has_keras3_weights(WeightSource& file) {
  if (file.texts("", "layer_names")) return false;  // a layer may be called "layers"
  return file.members(kLayers) || file.members(kOldLayers);
}

Matches match_keras3_weights(WeightSource& file, Model& model) {
  check_built(model, file.path());
  const bool old = !file.members(kLayers);
  Matches matches;
  for (const Place& place : Places(model, old ? kOldLayers : kLayers).take()) {
    const size_t expected = place.variables.size();
    const size_t received = file.members(place.path).value_or(Names{}).size();
    if (received != expected)
      fail("'", file.path(), "': '/", place.path, "': Layer '", place.layer->name(), "' expected ",
           expected, " variables, but received ", received,
           " variables during loading. Expected: ", names_of(place.variables),
           "; nothing was loaded");
    for (size_t i = 0; i < expected; ++i)
      matches.push_back(
          {concat(place.path, "/", i), place.variables[i], nullptr, place.layer->name()});
  }
  return matches;
}

}  // namespace crescent::keras

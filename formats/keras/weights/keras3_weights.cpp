#include "keras/weights/keras3_weights.h"

#include <map>

namespace crescent::keras {
namespace {

/// Names of the attributes in which Keras' layers keep the layers inside them, in our order.
struct Inner {
  const char* class_name;
  std::vector<const char*> attributes;
};
const Inner kInner[] = {
    {"SimpleRNN", {"cell"}},
    {"LSTM", {"cell"}},
    {"GRU", {"cell"}},
    {"RNN", {"cell"}},
    {"TimeDistributed", {"layer"}},
    {"Bidirectional", {"forward_layer", "backward_layer"}},
    {"MultiHeadAttention", {"query_dense", "key_dense", "value_dense", "output_dense"}},
};

std::string inner_name(const std::string& class_name, size_t i) {
  for (const Inner& row : kInner)
    if (class_name == row.class_name && i < row.attributes.size()) return row.attributes[i];
  return concat("layer_", i);
}

/// One object's variables and where they are.
struct Place {
  std::string path, name;
  Variables variables;
};

void collect(std::vector<Place>& places, const Layer& layer, const std::string& path) {
  auto* model = dynamic_cast<const Model*>(&layer);
  std::vector<LayerPtr> inside = model ? model->layers() : layer.sublayers();
  places.push_back({path + "vars", layer.name(), own_variables(layer, inside)});
  std::map<std::string, int> count;
  for (size_t i = 0; i < inside.size(); ++i) {
    std::string name =
        model ? to_snake_case(inside[i]->class_name()) : inner_name(layer.class_name(), i);
    if (int before = count[name]++; before > 0) name = concat(name, "_", before);
    collect(places, *inside[i], path + (model ? "layers/" : "") + name + "/");
  }
}

std::vector<Place> places_of(const Model& model) {
  std::vector<Place> places;
  collect(places, model, "");
  return places;
}

}  // namespace

void write_keras3_weights(Entries& entries, Model& model) {
  for (const Place& place : places_of(model)) {
    entries.push_back({place.path, {{"name", place.name}}});
    for (size_t i = 0; i < place.variables.size(); ++i)
      entries.push_back({concat(place.path, "/", i), {}, place.variables[i].value()});
  }
}

bool has_keras3_weights(WeightSource& file) {
  return !file.texts("", "layer_names") &&
         file.members("layers").has_value();  // a layer may be called "layers"
}

Matches match_keras3_weights(WeightSource& file, Model& model) {
  check_built(model, file.path());
  Matches matches;
  for (const Place& place : places_of(model))
    for (size_t i = 0; i < place.variables.size(); ++i)
      matches.push_back({concat(place.path, "/", i), place.variables[i], nullptr, place.name});
  return matches;
}

}  // namespace crescent::keras

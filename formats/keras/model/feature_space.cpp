#include "keras/model/feature_space.h"

#include "keras/assignment/assignment.h"
#include "keras/configs/config_in.h"
#include "keras/configs/config_out_keras3.h"
#include "keras/model/description.h"
#include "keras/vocabulary/objects.h"
#include "keras/weights/assets.h"
#include "keras/weights/keras3_weights.h"
#include "keras/weights/vocabularies.h"

namespace crescent::keras {
namespace {

constexpr const char *kModule = "keras.src.layers.preprocessing.feature_space",
                     *kLayerGroup = "preprocessors";

/// Options of a FeatureSpace that have the same name in Keras and Crescent.
constexpr const char* kSameOptions[] = {"output_mode", "crossing_dim", "hashing_dim",
                                        "num_discretization_bins"};

Value column_shape() { return List{Value(), 1}; }

/// Builds the layer for a column, which creates its weights.
void build_for_column(Layer& layer) {
  if (!layer.built() && !has_vocabulary(layer)) layer.build_for({{-1, 1}});
}

struct LoadedSpace {
  Dict config;
  LayerList layers{{}, kLayerGroup};
};

Dict feature_in(const std::string& name, const Value& feature, const ConfigIn& reader,
                LayerList& layers) {
  const Dict config = config_of(feature.as_dict());
  const auto layer = get<Layer>(reader.model(config.at("preprocessor")));
  build_for_column(*layer);
  layers.layers.push_back(layer);
  return {{"name", name},
          {"dtype", config.at("dtype")},
          {"preprocessor", Value(layer)},
          {"output_mode", config.at("output_mode")}};
}

List crosses_in(const Dict& config) {
  List crosses;
  if (const Value* crosses_value = config.find("crosses");
      crosses_value && crosses_value->is_list())
    for (const Value& cross : crosses_value->as_list())
      crosses.push_back(config_of(cross.as_dict()));
  return crosses;
}

LoadedSpace space_in(const Dict& config, const ConfigIn& reader) {
  LoadedSpace space;
  List features;
  for (const DictEntry& entry : config.at("features").as_dict())
    features.push_back(feature_in(entry.key, entry.value, reader, space.layers));
  space.config = {
      {"features", std::move(features)}, {"crosses", crosses_in(config)}, {"adapted", true}};
  for (const char* option : kSameOptions)
    if (const Value* value = config.find(option)) space.config.set(option, *value);
  return space;
}

Dict keras_object(const char* class_name, Dict config) {
  return {{"module", kModule},
          {"class_name", class_name},
          {"config", std::move(config)},
          {"registered_name", class_name}};
}

/// The configuration of a preprocessor in a file. TFDIdentity replaces the Identity layer of Keras,
/// which accepts no texts.
Value preprocessor_out(const Layer& layer) {
  Value written_layer = keras3_layer_config(layer);
  if (layer.class_name() == "Identity")
    return keras_object("TFDIdentity", config_of(written_layer.as_dict()));
  return written_layer;
}

}  // namespace

Value load_feature_space(WeightSource& file, const Value& custom_objects) {
  const auto text = file.text("", "model_config");
  const Value config = text ? parse_json(*text) : Value();
  if (!is_object(config) || class_of(config) != kFeatureSpace) return {};
  LoadedSpace space =
      space_in(config_of(config.as_dict()), ConfigIn(origin_of(file, ""), custom_objects));
  if (const auto name = file.text("vars", "name")) space.config.set("name", *name);
  Matches matches = match_keras3_weights(file, space.layers);
  const LayerPaths paths = keras3_paths(&file, space.layers);
  const Vocabularies vocabularies = Vocabularies::in_archive(file, paths);
  append(matches, vocabularies.matches());
  const Assets assets(file, paths);
  assign_all(file, matches);
  vocabularies.give_to_layers();
  assets.give_to_layers();
  return std::move(space.config);
}

ArchiveParts feature_space_parts(const Dict& space) {
  LayerList layers{{}, kLayerGroup};
  Dict features, shapes;
  for (const Value& feature : space.at("features").as_list()) {
    Dict config = feature.as_dict();
    const std::string name = config.at("name").as_string();
    const auto layer = get<Layer>(config.at("preprocessor"));
    layers.layers.push_back(layer);
    config.erase("name");
    config.set("preprocessor", preprocessor_out(*layer));
    features.set(name, keras_object("Feature", std::move(config)));
    shapes.set(name, Dict{{"input_shape", column_shape()}});
  }
  List crosses;
  for (const Value& cross : space.at("crosses").as_list())
    crosses.push_back(keras_object("Cross", cross.as_dict()));
  Dict config{{"features", std::move(features)}, {"crosses", std::move(crosses)}};
  for (const char* option : kSameOptions) config.set(option, Value(space.at(option)));
  ArchiveParts parts;
  parts.metadata = to_json(Dict{{"keras_version", keras_version_of("keras3")}});
  parts.config = to_json(Dict{{"module", "keras.utils"},
                              {"class_name", kFeatureSpace},
                              {"config", std::move(config)},
                              {"registered_name", Value()},
                              {"build_config", std::move(shapes)}});
  parts.weights = {{"", {}}, {"vars", {{"name", space.at("name")}}}};
  write_keras3_weights(parts.weights, layers);
  parts.assets = written_assets(keras3_paths(nullptr, layers));
  return parts;
}

Dict inspect_feature_space(const Dict& config) {
  List features, crosses;
  for (const DictEntry& entry : config.at("features").as_dict()) {
    Dict feature = config_of(entry.value.as_dict());
    const Value& layer = feature.at("preprocessor");
    features.push_back(Dict{{"name", entry.key},
                            {"class", class_of(layer)},
                            {"dtype", feature.at("dtype")},
                            {"output_mode", feature.at("output_mode")}});
  }
  for (const Value& cross : crosses_in(config))
    crosses.push_back(cross.as_dict().at("feature_names"));
  return {{"kind", "feature space"},
          {"features", std::move(features)},
          {"crosses", std::move(crosses)},
          {"output_mode", config.at("output_mode")}};
}

}  // namespace crescent::keras

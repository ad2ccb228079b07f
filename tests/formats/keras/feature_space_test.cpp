// Archives of a FeatureSpace as Keras 3 writes them: features in config.json, their learned state
// in weights and assets.
#include "archives.h"
#include "image.h"
#include "keras_file.h"

namespace crescent::hdf5 {
namespace {

// clang-format off
constexpr const char* kConfigOfKeras = R"({"module": "keras.utils", "class_name": "FeatureSpace",
 "config": {"features": {
  "size": {"module": "keras.src.layers.preprocessing.feature_space", "class_name": "Feature",
   "config": {"dtype": "float32", "output_mode": "float", "preprocessor": {"module": "keras.layers",
    "class_name": "Normalization", "config": {"name": "size_preprocessor", "trainable": true,
     "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"},
      "registered_name": null}, "axis": [-1], "invert": false, "mean": null, "variance": null},
    "registered_name": null, "build_config": {"input_shape": [4, 1]}}},
   "registered_name": "Feature"},
  "color": {"module": "keras.src.layers.preprocessing.feature_space", "class_name": "Feature",
   "config": {"dtype": "string", "output_mode": "one_hot", "preprocessor": {
    "module": "keras.layers", "class_name": "StringLookup", "config": {
     "name": "color_preprocessor", "trainable": true,
     "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"},
      "registered_name": null}, "invert": false, "max_tokens": null, "num_oov_indices": 1,
     "oov_token": "[UNK]", "mask_token": null, "output_mode": "int", "sparse": false,
     "pad_to_max_tokens": false, "idf_weights": null, "vocabulary": null, "vocabulary_size": 2,
     "oov_method": "floormod", "salt": null, "encoding": "utf-8"}, "registered_name": null,
    "build_config": {}}}, "registered_name": "Feature"},
  "plain": {"module": "keras.src.layers.preprocessing.feature_space", "class_name": "Feature",
   "config": {"dtype": "float32", "output_mode": "float", "preprocessor": {
    "module": "keras.src.layers.preprocessing.feature_space", "class_name": "TFDIdentity",
    "config": {"name": "plain_preprocessor", "trainable": true}, "registered_name": "TFDIdentity"}},
   "registered_name": "Feature"}},
  "output_mode": "dict", "crosses": [{"module": "keras.src.layers.preprocessing.feature_space",
   "class_name": "Cross", "config": {"feature_names": ["color", "plain"], "crossing_dim": 8,
    "output_mode": "one_hot"}, "registered_name": "Cross"}],
  "crossing_dim": 8, "hashing_dim": 5, "num_discretization_bins": 3}, "registered_name": null,
 "build_config": {"size": {"input_shape": [4, 1]}, "color": {}, "plain": null}})";
// clang-format on

std::string written_path(Scratch& scratch) {
  const auto scalar = [](auto value, DType dtype) {
    return Tensor::full({1}, static_cast<double>(value), dtype);
  };
  const std::string weights_path = "preprocessors/normalization/vars";
  const FileImage weights(tree_of({{"", {}},
                                   {"vars", {{"name", "mine"}}},
                                   {weights_path, {{"name", "size_preprocessor"}}},
                                   {weights_path + "/0", {}, scalar(2, DType::float32)},
                                   {weights_path + "/1", {}, scalar(9, DType::float32)},
                                   {weights_path + "/2", {}, Tensor::full({}, 4, DType::int32)}}));
  std::string bytes;
  for (const auto& piece : weights.pieces())
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  const std::string path = scratch.path("space.keras");
  pack(path, {{"metadata.json", R"({"keras_version": "3.15.1"})"},
              {"config.json", kConfigOfKeras},
              {kWeightsMember, bytes},
              {"assets/preprocessors/string_lookup/vocabulary.txt", "[UNK]\nred\nblue"}});
  return path;
}

Dict loaded_space(const std::string& path) {
  return format_to_read(path)
      ->call_method("load_feature_space", {{"path", path}, {"custom_objects", Value()}})
      .as_dict();
}

Tensor preprocessed(const Dict& space, size_t column, const Tensor& x) {
  const Value& feature = space.at("features").as_list().at(column);
  return (*get<Layer>(feature.as_dict().at("preprocessor")))(x);
}

TEST_CASE("a FeatureSpace of Keras has its columns and what they have learned") {
  Scratch scratch;
  const std::string path = written_path(scratch);
  const Dict space = loaded_space(path);
  CHECK(space.at("name") == Value("mine"));
  CHECK(space.at("output_mode") == Value("dict"));
  CHECK(space.at("hashing_dim") == Value(5));
  CHECK(space.at("crosses").as_list().size() == 1);
  const Tensor fives = Tensor::full({1, 1}, 5);
  CHECK(preprocessed(space, 0, fives).item() == Approx(1));
  CHECK(preprocessed(space, 2, fives).item() == 5);
  const auto lookup = get<Layer>(space.at("features").as_list().at(1).as_dict().at("preprocessor"));
  CHECK(lookup->call_method("get_vocabulary") == Value(List{"[UNK]", "red", "blue"}));
}

TEST_CASE("a FeatureSpace is written as Keras reads it, and read again") {
  Scratch scratch;
  const Dict space = loaded_space(written_path(scratch));
  const std::string path = scratch.path("ours.keras");
  format_to_write(path, ModelFormat::kAbility)
      ->call_method("save_feature_space", {{"path", path}, {"space", space}});
  const Dict config = parse_json(members_of_archive(path).at("config.json")).as_dict();
  CHECK(config.at("module") == Value("keras.utils"));
  const Dict& features = config.at("config").as_dict().at("features").as_dict();
  CHECK(features.keys() == std::vector<std::string>{"size", "color", "plain"});
  CHECK(contains(to_json(features.at("plain")), R"("class_name": "TFDIdentity")"));
  CHECK(contains(to_json(features.at("color")), R"("vocabulary": ["[UNK]", "red", "blue"])"));
  CHECK(preprocessed(loaded_space(path), 0, Tensor::full({1, 1}, 5)).item() == Approx(1));
}

TEST_CASE("a FeatureSpace is no model, and looked into as itself") {
  Scratch scratch;
  const std::string path = written_path(scratch);
  CHECK(contains(failure([&] { crescent::load_model(path); }), "It is no model"));
  const Dict file_facts = format_to_read(path)->call_method("inspect", {{"path", path}}).as_dict();
  CHECK(file_facts.at("kind") == Value("feature space"));
  CHECK(to_json(file_facts.at("crosses")) == R"([["color", "plain"]])");
  const std::string model = scratch.path("model.keras");
  crescent::save_model(*small_sequential(), model);
  CHECK(format_to_read(model)
            ->call_method("load_feature_space", {{"path", model}, {"custom_objects", Value()}})
            .is_null());
}

}  // namespace
}  // namespace crescent::hdf5

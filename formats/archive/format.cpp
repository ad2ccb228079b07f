// The format "archive": .keras files of Keras 3. The library formats/keras decides which texts and
// arrays such a file contains.
#include "crescent/io/format.h"
#include "crescent/plugin.h"
#include "keras/model/feature_space.h"
#include "keras/model/inspection.h"
#include "keras/model/keras_format.h"
#include "keras/weights/stored_objects.h"
#include "keras_archive.h"

namespace crescent::archive {

class KerasArchiveFormat final : public keras::KerasFormat {
 public:
  static void describe(Schema<KerasArchiveFormat>& s) {
    s.doc("Models as Keras 3 keeps them.")
        .trait("endings", List{".keras"})
        .trait("signatures", List{"504b0304"})
        .trait("folder", kConfigFile)
        .method("inspect", &KerasArchiveFormat::inspect, "What a file says about itself.")
        .arg("path", "Of the file.")
        .method("read_objects", &KerasArchiveFormat::read_objects,
                "The layers and other objects of the model, with their weights, and what the "
                "archive says about itself.")
        .arg("path", "Of the file.")
        .method("load_feature_space", &KerasArchiveFormat::load_feature_space,
                "A FeatureSpace as a table; null when the file holds a model.")
        .arg("path", "Of the file.")
        .arg("custom_objects", "Names in the file -> those that are registered.")
        .method("save_feature_space", &KerasArchiveFormat::save_feature_space,
                "Writes what load_feature_space gives.")
        .arg("path", "Of the file.")
        .arg("space", "Such a table.");
  }

  Value inspect(const std::string& path) {
    KerasArchive file(path);
    return keras::inspect(file).value();
  }

  Value read_objects(const std::string& path) {
    KerasArchive file(path);
    const auto parsed = [](const std::optional<std::string>& text) {
      return text ? parse_json(*text) : Value();
    };
    // Reading the weights comes last, because it ends the process that reads the file.
    Dict contents{{"config", parsed(file.text("", "model_config"))},
                  {"metadata", parsed(file.member(kMetadataFile))}};
    contents.set("objects", keras::stored_objects(file));
    return contents;
  }

  Value load_feature_space(const std::string& path, const Value& custom_objects) {
    KerasArchive file(path);
    return keras::load_feature_space(file, custom_objects);
  }
  void save_feature_space(const std::string& path, const Dict& space) {
    write_archive(keras::feature_space_parts(space), path);
  }

  void save_weights(Model&, const std::string& path, const Dict&) override {
    fail("The filename must end in `.weights.h5`. Received: filepath=", path,
         " (an archive holds a whole model: save it with model:save)");
  }

 private:
  std::unique_ptr<keras::WeightSource> open_file(const std::string& path) const override {
    return std::make_unique<KerasArchive>(path);
  }
  void write_model(Model& model, const std::string& path,
                   const keras::SaveOptions& options) const override {
    write_archive(keras::archive_parts(model, path, options), path);
  }
};

void add_sharded(Registry& registry);

CRESCENT_PLUGIN("archive", CRESCENT_VERSION) {
  registry.add<KerasArchiveFormat>("archive");
  add_sharded(registry);
}

}  // namespace crescent::archive

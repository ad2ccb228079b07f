// The format "archive": .keras files of Keras 3. formats/keras determines their contents.
#include "crescent/io/format.h"
#include "crescent/plugin.h"
#include "files/overwrite.h"
#include "keras/model/feature_space.h"
#include "keras/model/inspection.h"
#include "keras_archive.h"

namespace crescent::archive {

class KerasArchiveFormat final : public Format, public ModelFormat, public WeightsFormat {
 public:
  static void describe(Schema<KerasArchiveFormat>& s) {
    s.doc("Models as Keras 3 keeps them.")
        .trait("endings", List{".keras"})
        .trait("signatures", List{"504b0304"})
        .trait("folder", kConfig)
        .method("inspect", &KerasArchiveFormat::inspect, "What a file says about itself.")
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

  Value load_feature_space(const std::string& path, const Value& custom_objects) {
    KerasArchive file(path);
    return keras::load_feature_space(file, custom_objects);
  }
  void save_feature_space(const std::string& path, const Dict& space) {
    write_archive(keras::feature_space_parts(space), path);
  }

  const SchemaData& save_model_options() const override {
    return schema_of<keras::SaveOptions>("archive: saving a model");
  }
  const SchemaData& load_model_options() const override {
    return schema_of<keras::LoadOptions>("archive: loading a model");
  }
  const SchemaData& save_weights_options() const override {
    return schema_of<keras::SaveWeightsOptions>("archive: saving weights");
  }
  const SchemaData& load_weights_options() const override {
    return schema_of<keras::LoadWeightsOptions>("archive: loading weights");
  }

  void save_model(Model& model, const std::string& path, const Dict& given) override {
    const auto options = read_options<keras::SaveOptions>(save_model_options(), given);
    files::check_overwrite(path, options.overwrite);
    write_archive(keras::archive_parts(model, path, options), path);
  }

  ModelPtr load_model(const std::string& path, const Dict& given) override {
    const auto options = read_options<keras::LoadOptions>(load_model_options(), given);
    KerasArchive file(path);
    return keras::load_model(file, options);
  }

  void save_weights(Model&, const std::string& path, const Dict&) override {
    fail("The filename must end in `.weights.h5`. Received: filepath=", path,
         " (an archive holds a whole model: save it with model:save)");
  }

  void load_weights(Model& model, const std::string& path, const Dict& given) override {
    const auto options = read_options<keras::LoadWeightsOptions>(load_weights_options(), given);
    KerasArchive file(path);
    keras::load_weights(file, model, options);
  }
};

void add_sharded(Registry& registry);

CRESCENT_PLUGIN("archive", CRESCENT_VERSION) {
  registry.add<KerasArchiveFormat>("archive");
  add_sharded(registry);
}

}  // namespace crescent::archive

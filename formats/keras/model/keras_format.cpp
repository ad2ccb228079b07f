#include "keras/model/keras_format.h"

#include "files/overwrite.h"
#include "keras/model/model_file.h"

namespace crescent::keras {

const SchemaData& KerasFormat::save_model_options() const {
  return save_model_schema(class_name());
}

const SchemaData& KerasFormat::load_model_options() const {
  return load_model_schema(class_name());
}

const SchemaData& KerasFormat::save_weights_options() const {
  return save_weights_schema(class_name());
}

const SchemaData& KerasFormat::load_weights_options() const {
  return load_weights_schema(class_name());
}

void KerasFormat::save_model(Model& model, const std::string& path, const Dict& option_values) {
  const auto options = read_options<SaveOptions>(save_model_options(), option_values);
  files::check_overwrite(path, options.overwrite);
  if (!options.zipped) check_folder(path);
  write_model(model, options.zipped || path.ends_with('/') ? path : path + "/", options);
}

/// Fails if the model cannot be saved as a folder at this path.
void KerasFormat::check_folder(const std::string& path) const {
  if (!info()->schema.traits.find("folder"))
    fail("zipped=false: files of format ", class_name(), " are no folders; expected zipped=true");
  const std::string name = path.substr(0, path.find_last_not_of('/') + 1);
  if (name.ends_with(".keras"))
    fail("zipped=false: expected the path of a folder without the ending .keras, which names ",
         "archives, got '", name, "'");
}

ModelPtr KerasFormat::load_model(const std::string& path, const Dict& option_values) {
  const auto options = read_options<LoadOptions>(load_model_options(), option_values);
  return keras::load_model(*open_file(path), options);
}

void KerasFormat::load_weights(Model& model, const std::string& path, const Dict& option_values) {
  const auto options = read_options<LoadWeightsOptions>(load_weights_options(), option_values);
  keras::load_weights(*open_file(path), model, options);
}

}  // namespace crescent::keras

#include "keras/model/named_format.h"

#include "files/overwrite.h"
#include "keras/model/inspection.h"
#include "keras/model/model_file.h"
#include "keras/weights/weight_paths.h"

namespace crescent::keras {

const SchemaData& NamedFormat::save_weights_options() const {
  return save_weights_schema(class_name());
}

const SchemaData& NamedFormat::load_weights_options() const {
  return load_weights_schema(class_name());
}

void NamedFormat::save_weights(Model& model, const std::string& path, const Dict& option_values) {
  const auto options = read_options<SaveWeightsOptions>(save_weights_options(), option_values);
  refuse_skipping(path, options.objects_to_skip, "saving");
  files::check_overwrite(path, options.overwrite);
  write_arrays(path, values_by_path(model));
}

void NamedFormat::load_weights(Model& model, const std::string& path, const Dict& option_values) {
  const auto options = read_options<LoadWeightsOptions>(load_weights_options(), option_values);
  NamedArrays file = open_file(path);
  load_named_weights(file, model, options);
}

Tensor NamedFormat::read_array(const std::string& path, const std::string& name) {
  return open_file(path, name).find(name).read().clone();
}

NamedTensors NamedFormat::read_arrays(const std::string& path) {
  NamedArrays file = open_file(path);
  NamedTensors arrays;
  const Names names = file.members("").value();
  for (const std::string& name : names) arrays.emplace_back(name, file.find(name).read().clone());
  return arrays;
}

Value NamedFormat::inspect(const std::string& path) {
  NamedArrays file = open_file(path);
  return keras::inspect(file);
}

}  // namespace crescent::keras

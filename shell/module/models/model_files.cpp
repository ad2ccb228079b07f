#include "models/model_files.h"

#include "classes/building.h"
#include "classes/options.h"
#include "crescent/io/format.h"
#include "instances/custom_classes.h"
#include "library/feature_spaces.h"
#include "library/file_options.h"
#include "training/given_model.h"
#include "values/interruption.h"

namespace crescent::lua {

namespace {

/// The options of saving that help and completion show: those of HDF5 files. A format with other
/// options declares its own.
const Parameters kSaveParameters{"path: a path", "overwrite: true or false=true",
                                 "include_optimizer: true or false=true", "target: a string=keras3",
                                 "zipped: true or false=true"};

/// Whether the named options, which are the last argument, contain zipped = false.
bool saves_folder(lua_State* L) {
  const StackRestorer restorer(L);
  if (!lua_istable(L, -1)) return false;
  push_field(L, lua_gettop(L), "zipped");
  return lua_isboolean(L, -1) && !lua_toboolean(L, -1);
}

int save(lua_State* L) {
  auto model = self(L);
  const std::string path = path_at(L, 2, "save");
  const auto format =
      format_to_write<ModelFormat>(saves_folder(L) && !path.ends_with('/') ? path + "/" : path);
  save_model(*model, path, options_at(L, 2, format->save_model_options()));
  return 0;
}

/// Exports the model's prediction for use in other programs. Only the format "onnx" is accepted;
/// the other formats of Keras' export() need other frameworks.
void export_to(Model& model, const std::string& path, const std::string& format) {
  if (format != "onnx") fail("export: expected format \"onnx\", got \"", format, "\"");
  const auto writer = format_to_write<ModelFormat>(path.ends_with(".onnx") ? path : path + ".onnx");
  writer->save_model(model, path, {});
}

int save_weights_to(lua_State* L) {
  auto model = self(L);
  const std::string path = path_at(L, 2, "save_weights");
  const auto format = format_to_write<WeightsFormat>(path);
  save_weights(*model, path, options_at(L, 2, format->save_weights_options()));
  return 0;
}

int load_weights_from(lua_State* L) {
  Interruptible interruptible;
  auto model = self(L);
  const std::string path = path_at(L, 2, "load_weights");
  auto format = format_to_read<WeightsFormat>(path);
  format->load_weights(*model, path, options_at(L, 2, format->load_weights_options()));
  return 0;
}

int load_model_from(lua_State* L) {
  Interruptible interruptible;
  const std::string path = path_at(L, 1, "load_model");
  auto format = format_to_read<ModelFormat>(path);
  Dict options = options_at(L, 1, format->load_model_options());
  if (format->load_model_options().find("custom_objects")) {
    const Value* objects = options.find("custom_objects");
    options.set("custom_objects", custom_objects(objects ? *objects : Value()));
  }
  try {
    push(L, format->load_model(path, options));
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    if (!push_feature_space(L, path, options)) throw;
  }
  return 1;
}

}  // namespace

Value custom_objects(Value objects) {
  Dict classes = custom_classes(current());
  if (!objects.is_dict()) return classes.empty() ? Value() : Value(classes);
  for (const DictEntry& entry : objects.as_dict()) {
    if (auto function = entry.value.object_as<LuaFunction>())
      register_function(entry.key, function->function);
    else if (entry.value.is_string())
      classes.set(entry.key, entry.value);
    else
      fail("custom_objects: expected a class or a function for '", entry.key, "', got ",
           entry.value);
  }
  return classes;
}

void add_files(HandleType& model) {
  model
      .raw_method("save -> nothing", save, kSaveParameters,
                  "Saves architecture, weights and training state in a file, or in a folder with "
                  "zipped = false.")
      .method("export", &export_to, {"filepath", "format=onnx"},
              "Writes the prediction of the model as an ONNX file.")
      .raw_method("save_weights -> nothing", save_weights_to,
                  {"path: a path", "overwrite: true or false=true"},
                  "Saves the weights in a file, whose ending chooses the format.")
      .raw_method(
          "load_weights -> nothing", load_weights_from,
          {"path: a path", "by_name: true or false=false", "skip_mismatch: true or false=false"},
          "Loads the weights from a file; by_name = true matches layers by their names.");
}

void add_file_functions(std::vector<CallablePtr>& functions) {
  functions.push_back(raw("load_model -> a model", load_model_from,
                          {"path: a path", "custom_objects: a table of classes by name=nil",
                           "compile: true or false=true", "safe_mode: true or false=true"},
                          "Loads a model from a file of Keras or Crescent, or the FeatureSpace "
                          "that an archive holds."));
  Parameters model_and_options = kSaveParameters;
  model_and_options.insert(model_and_options.begin(), parse_parameter("model: a model"));
  functions.push_back(
      raw("save_model -> nothing", save, std::move(model_and_options),
          "Saves the whole model in a file, whose ending chooses the format, or in a "
          "folder with zipped = false."));
}

}  // namespace crescent::lua

// The format "hdf5": models and weights as Keras 2 writes them into .h5 files, weights as Keras 3
// writes them into .weights.h5 files, and plain arrays.
//
// Beside what Keras reads, a model's file has the attribute "crescent": JSON with our own
// configuration (nothing is lost in translation), the arguments of compile, the epoch, and which
// plugin each class came from.
#include <unistd.h>

#include <algorithm>
#include <set>

#include "callback_states.h"
#include "code_names.h"
#include "config_in.h"
#include "config_out.h"
#include "crescent/file.h"
#include "crescent/format.h"
#include "crescent/plugin.h"
#include "image.h"
#include "keras3_weights.h"
#include "tensors.h"
#include "training_state.h"
#include "weights.h"

namespace crescent::hdf5 {
namespace {

constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
constexpr const char* kEndings[] = {".h5", ".hdf5", ".hdf", ".he5"};

void save(const Tree& tree, const std::string& path) {
  replace_file(path, FileImage(tree).pieces());
}

void check_overwrite(const std::string& path, const SaveOptions& options) {
  if (!options.overwrite && access(system_path(path), F_OK) == 0)
    fail("'", path, "' exists already; pass overwrite=true to replace it");
}

// ---- saving

/// Class name -> [plugin, version] of every layer, for whoever loads the file without the plugin.
Dict plugins_of(Model& model) {
  Dict plugins;
  for (Layer* layer : model.flatten_layers())
    if (const auto& info = layer->info(); info && !info->plugin.empty())
      plugins.set(info->name, List{info->plugin, info->plugin_version});
  return plugins;
}

/// Of a graph, to build it by when its configuration does not say (a class from Lua keeps its own).
List input_shapes(Model& model) {
  List shapes;
  if (model.is_graph())
    for (const Symbol& input : model.inputs())
      shapes.push_back(Codec<Shape>::encode(input.shape()));
  return shapes;
}

/// What must be in the file, so that nothing starts anew because it was lost.
List groups_of(const Tree& tree) {
  List groups;
  for (const Node& node : tree)
    if (!node.path.empty() && node.path.find('/') == node.path.npos) groups.push_back(node.path);
  return groups;
}

Dict own_description(Model& model, const Value& config, const Value& compile, Value callback_states,
                     const Tree& tree) {
  return {{"version", CRESCENT_VERSION},
          {"model", config},
          {"input_shapes", input_shapes(model)},
          {"compile", compile},
          {"epochs_trained", model.epochs_trained()},
          {"run_state", std::move(callback_states)},
          {"groups", groups_of(tree)},
          {"plugins", plugins_of(model)}};
}

/// Of each name once in a process: a model may be saved after every epoch.
void warn_of_code(const std::string& path, const Value& config, const Value& compile) {
  static std::set<std::string> told;
  for (const std::string& name : names_of_code(List{config, compile}))
    if (told.insert(name).second)
      warn("'", path, "': '", name, "' is code, which files do not hold: define it again or ",
           how_to_bring(name));
}

/// Of a file at `path` that holds `tree`.
Node root(Model& model, const std::string& path, const SaveOptions& options, Value callback_states,
          const Tree& tree) {
  Value config = model_config(model);
  Value compile = model.compiled() && options.include_optimizer ? model.compile_config() : Value();
  warn_of_code(path, config, compile);
  Node node{
      "",
      {{"keras_version", std::string(kKerasVersion)},
       {"backend", std::string(kBackend)},
       {"model_config", to_json(keras_model_config(config, options.target))},
       {kOwn, to_json(own_description(model, config, compile, std::move(callback_states), tree))}},
      {}};
  if (!compile.is_null())
    node.attributes.push_back({"training_config", to_json(keras_training_config(compile))});
  return node;
}

// ---- loading

Value parse_attribute(FileReader& file, const char* name) {
  auto text = file.text("", name);
  if (!text) return {};
  try {
    return parse_json(*text);
  } catch (const Error& error) {
    fail("'", file.path(), "': attribute '", name, "' is no valid JSON: ", error.what());
  }
}

const Value& member(const Value& object, const char* name) {
  static const Value nothing;
  const Value* value = object.is_dict() ? object.as_dict().find(name) : nullptr;
  return value ? *value : nothing;
}

/// Who wrote the weights below `group`. A file of weights alone says it at its root.
Origin origin_of(FileReader& file, const std::string& group, bool ours) {
  Origin origin;
  origin.keras_version = file.text(group, "keras_version").value_or("1");
  origin.backend = file.text(group, "backend").value_or("");
  origin.ours = ours;
  return origin;
}

/// Everything a file says about a model besides numbers.
struct Description {
  explicit Description(FileReader& file)
      : own(parse_attribute(file, kOwn)),
        origin(origin_of(file, "", !own.is_null())),
        model(own.is_null() ? parse_attribute(file, "model_config") : member(own, "model")),
        compile(own.is_null() ? parse_attribute(file, "training_config") : member(own, "compile")) {
    if (model.is_null())
      fail("'", file.path(),
           "': No model found in config. The file has no model_config: if it holds weights only, "
           "build the model and call load_weights");
    if (const Value& groups = member(own, "groups"); groups.is_list())
      for (const Value& group : groups.as_list())
        if (!file.members(group.as_string()))
          fail("'", file.path(), "' is damaged: '/", group.as_string(),
               "' is missing; nothing was loaded");
  }
  Value own;
  Origin origin;
  Value model, compile;
};

ModelPtr build(const Description& description, const ConfigIn& reader, const std::string& path) {
  Value config = reader.model(description.model);
  try {
    std::vector<Shape> inputs;
    if (const Value& shapes = member(description.own, "input_shapes"); shapes.is_list())
      for (const Value& shape : shapes.as_list()) inputs.push_back(Codec<Shape>::decode(shape));
    return blank_model_from_config(config, inputs);
  } catch (Error& error) {
    error.add_context(concat("'", path, "': model_config: "));
    throw;
  }
}

/// A model that cannot be compiled still predicts.
bool compile(Model& model, const Description& description, const ConfigIn& reader,
             const std::string& path) {
  if (!description.compile.is_dict()) {
    warn("'", path,
         "': No training configuration found in save file: the model was *not* compiled. Compile "
         "it manually.");
    return false;
  }
  try {
    model.compile(reader.compile_options(description.compile));
    return true;
  } catch (const Error& error) {
    warn("'", path, "': the model was not compiled: ", error.what(), ". Compile it manually.");
    return false;
  }
}

void append(Matches& matches, Matches more) {
  matches.insert(matches.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
}

}  // namespace

class Hdf5Format final : public Format {
 public:
  static void describe(Schema<Hdf5Format>& s) { s.doc("Keras' HDF5 files: .h5, .hdf5."); }

  bool writes(std::string_view path) const override {
    return std::any_of(std::begin(kEndings), std::end(kEndings),
                       [&](const char* ending) { return path.ends_with(ending); });
  }

  bool reads(std::string_view path, std::string_view first_bytes) const override {
    return first_bytes.starts_with(kSignature) || (first_bytes.empty() && writes(path));
  }

  void save_model(Model& model, const std::string& path, const SaveOptions& options) override {
    check_overwrite(path, options);
    Tree tree;
    Value states;
    if (options.include_optimizer) states = write_callback_states(tree, model.run_state());
    write_weights(tree, model, "model_weights");
    if (model.compiled() && options.include_optimizer)
      write_optimizer(tree, *model.optimizer(), options.target);
    write_random_state(tree, model);
    tree.insert(tree.begin(), root(model, path, options, std::move(states), tree));
    save(tree, path);
  }

  ModelPtr load_model(const std::string& path, const LoadOptions& options) override {
    FileReader file(path);
    Description description(file);
    ConfigIn reader(path, description.origin, options.custom_objects,
                    member(description.own, "plugins"));
    ModelPtr model = build(description, reader, path);
    Matches matches = match_own(file, find_weights(file), *model, description.origin);
    append(matches, match_random_state(file, *model));
    if (options.compile && compile(*model, description, reader, path)) {
      model->optimizer()->build(model->trainable_weights());
      append(matches, match_optimizer(file, *model->optimizer()));
    }
    const CallbackStates callbacks(
        file, options.compile ? member(description.own, "run_state") : Value());
    append(matches, callbacks.matches());
    assign_all(file, matches);
    callbacks.give_to(*model);
    if (const Value& epochs = member(description.own, "epochs_trained"); epochs.is_int())
      model->set_epochs_trained(epochs.as_int());
    return model;
  }

  void save_weights(Model& model, const std::string& path, const SaveOptions& options) override {
    check_overwrite(path, options);
    Tree tree;
    path.ends_with(".weights.h5") ? write_keras3_weights(tree, model)
                                  : write_weights(tree, model, "");
    save(tree, path);
  }

  void load_weights(Model& model, const std::string& path,
                    const LoadWeightsOptions& options) override {
    FileReader file(path);
    if (has_keras3_weights(file)) return load_keras3_weights(file, model, options);
    std::string group = find_weights(file);
    Origin origin = origin_of(file, group, false);
    replace_all(file, options.by_name
                          ? match_by_name(file, group, model, origin, options.skip_mismatch)
                          : match_in_order(file, group, model, origin));
  }

  Tensor read_array(const std::string& path, const std::string& place) override {
    FileReader file(path);
    std::vector<std::string> names{place.empty() ? only_member(file) : place};
    return to_tensor(file.read(names, file.describe(names)).front());
  }

  Tensor open_array(const std::string& path, const std::string& place) override {
    auto file = std::make_unique<FileReader>(path);
    std::string name = place.empty() ? only_member(*file) : place;
    return tensor_in_file(std::move(file), name);
  }

  void write_arrays(const std::string& path,
                    const std::vector<std::pair<std::string, Tensor>>& arrays) override {
    Tree tree;
    for (const auto& [name, tensor] : arrays) tree.push_back(dataset_node(name, tensor));
    save(tree, path);
  }

 private:
  static void load_keras3_weights(FileReader& file, Model& model,
                                  const LoadWeightsOptions& options) {
    if (options.by_name)
      fail("'", file.path(),
           "': by_name needs a file in Keras 2's layout; this one (.weights.h5) has no names of "
           "layers");
    replace_all(file, match_keras3_weights(file, model));
  }

  static std::string only_member(FileReader& file) {
    auto names = file.members("").value();
    if (names.size() != 1)
      fail("'", file.path(), "': which dataset? The file has ", names.size(), ": ", join(names));
    return names.front();
  }
};

CRESCENT_PLUGIN("hdf5", CRESCENT_VERSION) { registry.add<hdf5::Hdf5Format>("hdf5"); }

}  // namespace crescent::hdf5

#include "keras/model/description.h"

#include <algorithm>

#include "crescent/layer/operation.h"
#include "crescent/model/model.h"
#include "keras/configs/config_out.h"
#include "keras/configs/config_out_keras3.h"
#include "keras/configs/incompatibilities.h"
#include "keras/configs/training_config_out.h"
#include "keras/graphs/operation_nodes.h"
#include "keras/model/own_attribute.h"
#include "keras/vocabulary/code_names.h"
#include "keras/vocabulary/objects.h"
#include "keras/vocabulary/reported_once.h"
#include "keras/weights/keras3_weights.h"

namespace crescent::keras {
namespace {

/// Adds the operation that an OperationLayer calls to `plugins`, unless the operation is built in.
void collect_operation(const Dict& object, Dict& plugins) {
  const Dict config = config_of(object);
  const std::string* name =
      class_of(object) == kOperationLayer ? text_at(config, "operation") : nullptr;
  const auto info = name ? registry().find(Operation::kKind, *name) : nullptr;
  if (info && is_foreign(*info)) plugins.set(*name, List{info->plugin, info->plugin_version});
}

/// The kinds of objects that options may name by a string.
constexpr const char* kNamedKinds[] = {Activation::kKind, Initializer::kKind, Regularizer::kKind,
                                       Constraint::kKind, Loss::kKind,        Metric::kKind,
                                       Optimizer::kKind};

/// The kind of the objects that the value of an option names: "kernel_initializer" names
/// initializers; "" if it names none.
std::string kind_of_option(const std::string& option) {
  if (option.ends_with("metrics")) return Metric::kKind;
  for (const char* kind : kNamedKinds)
    if (option == kind || option.ends_with(concat("_", kind))) return kind;
  return "";
}

/// Adds [plugin, version] for each name in `value`, the value of an option that names objects of
/// this kind, unless their class is built in.
void collect_names(const std::string& kind, const Value& value, Dict& plugins) {
  if (value.is_list())
    for (const Value& item : value.as_list()) collect_names(kind, item, plugins);
  if (value.is_dict() && !is_object(value))
    for (const DictEntry& entry : value.as_dict()) collect_names(kind, entry.value, plugins);
  if (!value.is_string()) return;
  if (const auto info = registry().find(kind, value.as_string()); info && is_foreign(*info))
    plugins.set(value.as_string(), List{info->plugin, info->plugin_version});
}

/// Adds [plugin, version] for the class of each object in `value` to `plugins`. If the file is
/// loaded without a plugin, the error names it.
void collect_plugins(const Value& value, Dict& plugins) {
  if (value.is_list())
    for (const Value& item : value.as_list()) collect_plugins(item, plugins);
  if (!value.is_dict()) return;
  if (is_object(value)) {
    if (const auto info = find_class(class_of(value)); info && !info->plugin.empty())
      plugins.set(info->name, List{info->plugin, info->plugin_version});
    collect_operation(value.as_dict(), plugins);
  }
  for (const DictEntry& entry : value.as_dict()) {
    if (const std::string kind = kind_of_option(entry.key); !kind.empty())
      collect_names(kind, entry.value, plugins);
    collect_plugins(entry.value, plugins);
  }
}

Dict plugins_of(Model& model, const Value& config, const Value& compile) {
  Dict plugins;
  // The loop includes layers that the configuration does not contain.
  for (Layer* layer : model.flatten_layers())
    if (const auto& info = layer->info(); info && !info->plugin.empty())
      plugins.set(info->name, List{info->plugin, info->plugin_version});
  collect_plugins(config, plugins);
  collect_plugins(compile, plugins);
  return plugins;
}

/// The input shapes of a graph. They are needed to build the graph again if its configuration lacks
/// them, as may be the case if its class is written in Lua.
List input_shapes(Model& model) {
  List shapes;
  if (model.is_graph())
    for (const Symbol& input : model.inputs())
      shapes.push_back(Codec<Shape>::encode(input.shape()));
  return shapes;
}

/// The names of the groups at the top of the file. The description lists these, so that loading
/// fails if one is missing.
List groups_of(const Entries& entries) {
  List groups;
  for (const Entry& entry : entries)
    if (!entry.path.empty() && entry.path.find('/') == entry.path.npos)
      groups.push_back(entry.path);
  return groups;
}

void warn_of_code(const std::string& path, const Value& config, const Value& compile) {
  static ReportedOnce reported;
  for (const std::string& name : names_of_functions(List{config, compile}))
    if (reported.add_if_new(name))
      warn("'", path, "': '", name, "' is code, which files do not hold: define it again or ",
           how_to_provide(name));
}

void check_compatibility(const std::string& path, const std::string& target_generation,
                         const Value& config, const Value& compile) {
  static ReportedOnce reported;
  const std::vector<Incompatibility> incompatibilities =
      incompatibilities_of(config, compile, target_generation);
  if (incompatibilities.empty()) return;
  const bool is_for_keras2 = target_generation == "keras2";
  if (is_for_keras2 && any_serious(incompatibilities))
    fail("'", path, "': Keras 2 cannot express this model, so nothing was written:",
         to_text(incompatibilities));
  if (reported.add_if_new(path))
    warn("'", path, "': ",
         is_for_keras2
             ? "Keras 2.3.1 computes this otherwise:"
             : "Keras 3 lacks this, or computes it otherwise (target = \"keras2\" may keep it):",
         to_text(incompatibilities));
}

/// The arguments of compile; null if the model is not compiled or the optimizer is not saved.
Value compile_config(const Model& model, const SaveOptions& options) {
  return model.compiled() && options.include_optimizer ? model.compile_config() : Value();
}

/// The input shape with which Keras builds the model; null for a graph, whose configuration
/// contains the shape.
Value build_shape(const Model& model, const Value& config) {
  if (is_sequential(model.class_name()))
    return model.is_graph() ? Codec<Shape>::encode(model.inputs().front().shape()) : Value();
  const Dict options = config_of(config.as_dict());
  const Value* shape = options.find(kBuildShape);
  return shape ? *shape : Value();
}

}  // namespace

ModelAttributes attributes_of(Model& model, const std::string& path, const SaveOptions& options,
                              Value callback_states, const Entries& entries) {
  const Value config = model_config(model), compile = compile_config(model, options);
  check_compatibility(path, options.target, config, compile);
  warn_of_code(path, config, compile);
  return {config, compile,
          Dict{{"version", CRESCENT_VERSION},
               {"model", config},
               {"input_shapes", input_shapes(model)},
               {"compile", compile},
               {"epochs_trained", model.epochs_trained()},
               {"run_state", std::move(callback_states)},
               {"groups", groups_of(entries)},
               {"plugins", plugins_of(model, config, compile)}}};
}

ArchiveDescription archive_description(Model& model, const ModelAttributes& attributes) {
  const auto& [config, compile, own_description] = attributes;
  Value written_config = keras3_layer_config(model);
  // a class of the user may have written a build_config itself
  if (!written_config.as_dict().contains(kBuildConfig))
    written_config.as_dict().set(kBuildConfig, Dict{{"input_shape", build_shape(model, config)}});
  written_config.as_dict().set("compile_config",
                               compile.is_null() ? Dict() : keras3_compile_config(compile));
  return {to_json(Dict{{"keras_version", keras_version_of("keras3")}}),
          to_json(written_config),
          {"", {{kOwnAttribute, to_json(own_description)}}}};
}

Entry description_entry(Model& model, const ModelAttributes& attributes,
                        const std::string& target_generation) {
  const auto& [config, compile, own_description] = attributes;
  Entry root{"",
             {{"keras_version", keras_version_of(target_generation)},
              {"backend", kBackend},
              {"model_config", to_json(keras_model_config(config, target_generation, &model))},
              {kOwnAttribute, to_json(own_description)}}};
  const Value training_config =
      compile.is_null() ? Value() : keras_training_config(compile, target_generation);
  if (!training_config.is_null()) root.attributes.set("training_config", to_json(training_config));
  return root;
}

namespace {

Value parse_attribute(WeightSource& file, const char* name) {
  auto text = file.text("", name);
  if (!text) return {};
  try {
    return parse_json(*text);
  } catch (const Error& error) {
    fail("'", file.path(), "': attribute '", name, "' is no valid JSON: ", error.what());
  }
}

}  // namespace

Origin origin_of(WeightSource& file, const std::string& group) {
  return {file.text(group, "keras_version").value_or("1"),
          file.text(group, "backend").value_or("")};
}

ModelDescription::ModelDescription(WeightSource& file, Value custom_objects)
    : path_(file.path()),
      own_attribute_(parse_attribute(file, kOwnAttribute)),
      origin_(origin_of(file, "")) {
  origin_.is_written_by_crescent = !own_attribute_.is_null();
  model_ =
      origin_.is_written_by_crescent ? own_value("model") : parse_attribute(file, "model_config");
  compile_ = origin_.is_written_by_crescent ? own_value("compile")
                                            : parse_attribute(file, "training_config");
  if (model_.is_null())
    fail("'", path_,
         "': No model found in config. The file has no model_config: if it holds weights only, "
         "build the model and call load_weights");
  check_groups(file);
  optimizer_ = file.text(kOptimizerGroup, "name").value_or("");
  reader_.emplace(origin_, std::move(custom_objects), own_value("plugins"));
}

void ModelDescription::check_groups(WeightSource& file) const {
  const Value& groups = own_value("groups");
  if (!groups.is_list()) return;
  for (const Value& group : groups.as_list())
    if (!file.members(group.as_string()))
      fail("'", path_, "' is damaged: '/", group.as_string(), "' is missing; nothing was loaded");
}

const Value& ModelDescription::own_value(const char* name) const {
  static const Value null_value;
  const Value* value = own_attribute_.is_dict() ? own_attribute_.as_dict().find(name) : nullptr;
  return value ? *value : null_value;
}

namespace {

/// Adds the input shape of a model without a graph to its configuration; Keras 3 writes that shape
/// beside the configuration.
Value with_build_shape(Value config, const Value& written_config) {
  const Value* build =
      written_config.is_dict() ? written_config.as_dict().find(kBuildConfig) : nullptr;
  const std::string name = class_of(config);
  if (!build || is_sequential(name) || is_graph(name, config_of(config.as_dict()))) return config;
  const Value shape = build_shape_in(*build);
  if (!shape.is_null()) config.as_dict()["config"].as_dict().set(kBuildShape, shape);
  return config;
}

}  // namespace

ModelPtr ModelDescription::build() const {
  try {
    const Value config = with_build_shape(reader_->model(model_), model_);
    std::vector<Shape> inputs;
    if (const Value& shapes = own_value("input_shapes"); shapes.is_list())
      for (const Value& shape : shapes.as_list()) inputs.push_back(Codec<Shape>::decode(shape));
    return blank_model_from_config(config, inputs);
  } catch (Error& error) {
    error.add_context(concat("'", path_, "': model_config: "));
    throw;
  }
}

bool ModelDescription::has_optimizer() const {
  if (!compile_.is_dict()) return false;
  const Dict& compile_options = compile_.as_dict();
  return compile_options.contains("optimizer") || compile_options.contains("optimizer_config");
}

/// The options of compile. Some optimizers are missing in files of Keras 3 although their state is
/// saved; the class then follows from the name of the group with the state.
Dict ModelDescription::compile_options() const {
  Dict options = reader_->compile_options(compile_);
  if (has_optimizer()) return options;
  for (const std::string& name : registry().names(Optimizer::kKind)) {
    if (to_snake_case(name) != optimizer_) continue;
    warn("'", path_, "': the file has the state of optimizer '", optimizer_,
         "', but not its options: those but the learning rate are the usual ones of ", name,
         ". Compile the model again when it was trained with others.");
    options.set("optimizer", name);
    return options;
  }
  warn("'", path_, "': ",
       optimizer_.empty() ? "the file does not say with which optimizer it was compiled"
                          : concat("Unknown optimizer: ", optimizer_,
                                   ". The file has its state, but not its options"),
       ". It becomes rmsprop, as in Keras: compile the model again for another one.");
  return options;
}

namespace {

/// Gives the whole list of metrics to each output, as Keras did before Keras 3. Otherwise a list
/// with one item per output would be divided among the outputs, as in Keras 3.
void give_metrics_to_all(Dict& options, size_t output_count) {
  for (const char* name : {"metrics", "weighted_metrics"}) {
    Value* metrics = options.find(name);
    if (!metrics || !metrics->is_list() || metrics->as_list().size() != output_count) continue;
    const List& list = metrics->as_list();
    const bool is_flat = std::none_of(list.begin(), list.end(),
                                      [](const Value& v) { return v.is_list() || v.is_null(); });
    if (is_flat) *metrics = List(output_count, Value(list));
  }
}

/// The value of an argument of compile for one output. The argument may be a single value for all
/// outputs, a list with an item per output, or a dictionary by name.
Value value_for_output(const Value& argument, size_t output, const Model& model) {
  if (argument.is_dict() && !is_object(argument)) {
    const Value* output_value = argument.as_dict().find(model.output_names()[output]);
    return output_value ? *output_value : Value();
  }
  if (!argument.is_list()) return argument;
  const List& list = argument.as_list();
  const bool has_nested_items = std::any_of(
      list.begin(), list.end(), [](const Value& v) { return v.is_list() || v.is_null(); });
  return has_nested_items && output < list.size() ? list[output] : argument;
}

Value loss_of(const Value& losses, size_t output, const Model& model) {
  return losses.is_list() && output < losses.as_list().size()
             ? losses.as_list()[output]
             : value_for_output(losses, output, model);
}

/// Replaces "accuracy" or "crossentropy" by the metric for binary targets, which shows this name.
Value binary_metric(const Value& metric) {
  if (metric.is_list()) {
    List result;
    for (const Value& each : metric.as_list()) result.push_back(binary_metric(each));
    return result;
  }
  const bool is_accuracy = metric == Value("accuracy") || metric == Value("acc");
  const bool is_crossentropy = metric == Value("crossentropy") || metric == Value("ce");
  if (!is_accuracy && !is_crossentropy) return metric;
  return Dict{{"class_name", is_accuracy ? "BinaryAccuracy" : "BinaryCrossentropy"},
              {"config", Dict{{"name", metric}}}};
}

/// Replaces metrics as Keras 2.3.1 does: for an output whose loss takes binary targets and whose
/// last axis has another size than 1, "accuracy" and "crossentropy" become the metrics for binary
/// targets.
void pick_metrics_by_loss(Dict& options, const Model& model) {
  const Value* losses = options.find("loss");
  std::vector<bool> is_binary;
  for (size_t i = 0; losses && i < model.outputs().size(); ++i) {
    const Value loss = loss_of(*losses, i, model);
    const Shape& shape = model.outputs()[i].shape();
    is_binary.push_back(!loss.is_null() && shape.rank() > 0 && shape[-1] != 1 &&
                        get<Loss>(loss)->binary_targets());
  }
  if (std::count(is_binary.begin(), is_binary.end(), true) == 0) return;
  for (const char* name : {"metrics", "weighted_metrics"}) {
    Value* metrics = options.find(name);
    if (!metrics || metrics->is_null()) continue;
    List per_output;
    for (size_t i = 0; i < is_binary.size(); ++i) {
      const Value output_metrics = value_for_output(*metrics, i, model);
      per_output.push_back(is_binary[i] ? binary_metric(output_metrics) : output_metrics);
    }
    *metrics = per_output.size() == 1 ? per_output.front() : Value(per_output);
  }
}

}  // namespace

bool ModelDescription::compile(Model& model) const {
  if (!compile_.is_dict()) return false;
  try {
    Dict options = compile_options();
    if (origin_.generation() < 3 && model.is_graph() && model.outputs().size() > 1)
      give_metrics_to_all(options, model.outputs().size());
    if (origin_.chooses_accuracy_by_loss() && model.is_graph())
      pick_metrics_by_loss(options, model);
    model.compile(options);
    return true;
  } catch (const Error& error) {
    warn("'", path_, "': the model was not compiled: ", error.what(), ". Compile it manually.");
    return false;
  }
}

}  // namespace crescent::keras

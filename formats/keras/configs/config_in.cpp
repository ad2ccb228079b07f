#include "keras/configs/config_in.h"

#include <algorithm>
#include <map>

#include "crescent/model/model.h"
#include "keras/graphs/call_numbers.h"
#include "keras/graphs/graph_in.h"
#include "keras/graphs/mask_arguments.h"
#include "keras/graphs/operation_nodes.h"
#include "keras/graphs/tensorflow_calls.h"
#include "keras/keras1/configurations.h"
#include "keras/vocabulary/code_names.h"
#include "keras/vocabulary/formulas.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

/// A class in files that is read as the class `replacement`; if `option` is not null, this option
/// gets `value`. The table has the layers of cuDNN and some layers of a FeatureSpace.
struct ClassReplacement {
  const char *class_name, *replacement, *option;
  bool value;
};
constexpr ClassReplacement kClassReplacements[] = {{"CuDNNLSTM", "LSTM", nullptr, false},
                                                   {"CuDNNGRU", "GRU", "reset_after", true},
                                                   {"TFDConcat", "Concatenate", nullptr, false},
                                                   {"TFDIdentity", "Identity", nullptr, false}};

}  // namespace

ConfigIn::ConfigIn(Origin origin, Value custom_names, Value plugins)
    : origin_(std::move(origin)), names_(std::move(custom_names), std::move(plugins)) {}

Value ConfigIn::model(const Value& object) const {
  if (!object.is_dict()) fail("expected an object with class_name and config, got ", object);
  const auto layer_names = origin_.has_flipped_kernels() ? padded_differently_by_theano(object)
                                                         : std::vector<std::string>();
  if (!layer_names.empty())
    warn(
        "Theano, on which this model was saved, puts the zeros of padding \"same\" at other ends "
        "than TensorFlow, as is done here; predictions differ because of ",
        join(layer_names));
  return layer(origin_.generation() < 2 ? from_keras1(object).as_dict() : object.as_dict());
}

Value build_shape_in(const Value& build_config) {
  if (!build_config.is_dict()) return {};
  for (const DictEntry& entry : build_config.as_dict()) {
    if (entry.key != "input_shape" && entry.key != "shapes_dict") continue;
    if (!entry.value.is_dict()) return entry.value;
    List shapes;  // the shapes of named inputs, sorted by name
    std::map<std::string, Value> shapes_by_name;
    for (const DictEntry& shape : entry.value.as_dict()) shapes_by_name[shape.key] = shape.value;
    for (const auto& [name, shape] : shapes_by_name) shapes.push_back(shape);
    return shapes;
  }
  return {};
}

Value ConfigIn::layer(const Dict& object) const {
  Dict converted_layer = single_layer(object);
  copy_shared_id(object, converted_layer, kSharedId);
  return converted_layer;
}

/// Returns {"class_name", "config"} of a layer in Crescent's form, without the other keys of Keras
/// 3 (module, registered_name, build_config).
Dict ConfigIn::single_layer(const Dict& object) const {
  std::string name = names_.registered_class(object);
  if (is_sequential(name))
    return Dict{{"class_name", name}, {"config", sequential(object.at("config"))}};
  if (const Dict graph_config = config_of(object); is_graph(name, graph_config)) {
    if (is_functional(name))
      return Dict{{"class_name", "Functional"}, {"config", functional(graph_config)}};
    if (!registry().find("layer", name))
      names_.fail_unknown("layer", name, concat("model '", name, "'"));
    return Dict{{"class_name", name},
                {"config", with_class_options(functional(graph_config), graph_config)}};
  }
  Dict config = config_of(object);
  for (const ClassReplacement& row : kClassReplacements) {
    if (name != row.class_name) continue;
    name = row.replacement;
    if (row.option) config.set(row.option, row.value);
  }
  if (!registry().find("layer", name))
    names_.fail_unknown("layer", name, concat("layer '", name_of_layer(object), "'"));
  const auto info = registry().find("layer", name);
  if (const Value* build = object.find(kBuildConfig); build && info && info->origin == "Lua") {
    config.set(kBuildConfig, *build);
    if (info->schema.find(kBuildShape) && is_build_shape(info.get(), kBuildShape))
      config.set(kBuildShape, build_shape_in(*build));
  }
  if (name == "TimeDistributed" && origin_.generation() >= 3 && !origin_.is_written_by_crescent)
    leave_out_penalty(config["layer"]);
  return Dict{{"class_name", name}, {"config", options("layer", name, config)}};
}

namespace {

void copy_option(const Dict& config, const char* option, Dict& result) {
  if (const Value* value = config.find(option); value && !value->is_null())
    result.set(option, *value);
}

}  // namespace

Dict ConfigIn::sequential(const Value& config) const {
  bool is_plain_list =
      config.is_list();  // before Keras 2.2.3 the configuration of a Sequential was a list
  List layers;
  for (const Value& entry :
       is_plain_list ? config.as_list() : config.as_dict().at("layers").as_list())
    layers.push_back(layer(entry.as_dict()));
  Dict result;
  if (!is_plain_list)
    for (const char* option : {"name", "trainable", "build_input_shape"})
      copy_option(config.as_dict(), option, result);
  result.set("layers", std::move(layers));
  return result;
}

bool ConfigIn::passes_masks_on(const Dict& entry) const {
  const std::string name = class_of(entry);
  if (is_sequential(name) || is_functional(name)) return true;
  return !is_operation(entry) && !is_tensorflow_call(entry) &&
         get<Layer>(Value(single_layer(entry)))->supports_masking();
}

namespace {

Value without_mask(Value node) {
  node.as_dict()["kwargs"].as_dict().erase("mask");
  return node;
}

/// Sets the option mask_with_states of a recurrent layer that is called with initial states,
/// because in Keras 2 such calls apply the mask, too.
void keep_masks_of_keras2(const ClassInfo& info, const List& nodes, Dict& layer) {
  const bool has_states = std::any_of(nodes.begin(), nodes.end(),
                                      [](const Value& node) { return node.as_list().size() > 1; });
  if (has_states && info.schema.find(kMaskWithStates))
    layer["config"].as_dict().set(kMaskWithStates, true);
}

/// Fails if the layer calls an operation that is not registered. The message names the operation's
/// plugin if the file records it.
void check_operation(const Dict& object, const ClassNames& names) {
  const Dict config = config_of(object);
  const std::string* function = text_at(config, "operation");
  if (class_of(object) == kOperationLayer && function && !registry().find("operation", *function))
    names.fail_unknown("operation", *function, concat("layer '", name_of_layer(object), "'"));
}

/// Whether the calls of layers have the form of Keras 3, a table with "args" and "kwargs".
bool has_nodes_of_keras3(const List& entries) {
  return std::any_of(entries.begin(), entries.end(), [](const Value& entry) {
    const List& nodes = entry.as_dict().at("inbound_nodes").as_list();
    return std::any_of(nodes.begin(), nodes.end(),
                       [](const Value& node) { return node.is_dict(); });
  });
}

}  // namespace

Dict ConfigIn::functional(const Dict& config) const {
  Dict result;
  for (const char* option : {"name", "trainable", "added_losses", "added_metrics"})
    copy_option(config, option, result);
  List layers;
  const List& entries = config.at("layers").as_list();
  const std::map<std::string, Dict> calls =
      tensorflow_calls_in(entries, references_in(config.at("output_layers")));
  const MaskArguments masks(entries, [&](const Dict& entry) { return passes_masks_on(entry); });
  for (const Value& entry : entries) {
    const Dict& object = entry.as_dict();
    if (add_loss_or_metric(object, result)) continue;
    if (is_tensorflow_call(object)) {
      if (const auto call = calls.find(name_of_layer(object)); call != calls.end())
        layers.emplace_back(call->second);
      continue;
    }
    if (is_operation(object)) {
      check_operation(object, names_);
      layers.push_back(operation_in(object));
      continue;
    }
    Dict converted_layer = layer(object).as_dict();
    converted_layer.set("name", name_of_layer(object));
    auto info = registry().find("layer", class_of(converted_layer));
    List nodes;
    for (const Value& node : object.at("inbound_nodes").as_list())
      nodes.push_back(call_in(masks.can_be_omitted(node) ? without_mask(node) : node, info.get()));
    if (info && origin_.generation() < 3) keep_masks_of_keras2(*info, nodes, converted_layer);
    converted_layer.set("inbound_nodes", std::move(nodes));
    layers.push_back(std::move(converted_layer));
  }
  List inputs = references_in(config.at("input_layers")),
       outputs = references_in(config.at("output_layers"));
  count_nested_from_zero(layers, outputs, has_nodes_of_keras3(entries));
  result.set("layers", std::move(layers));
  result.set("input_layers", std::move(inputs));
  result.set("output_layers", std::move(outputs));
  for (const char* key : {"input_structure", "output_structure", "input_keys", "output_keys"})
    copy_option(config, key, result);
  for (const auto& [endpoints_key, key] : {std::pair{"input_layers", "input_structure"},
                                           std::pair{"output_layers", "output_structure"}})
    if (Value structure = structure_in(config.at(endpoints_key)); !structure.is_null())
      result.set(key, std::move(structure));
  return result;
}

/// Converts the value of an option, which may be or contain an object, a function, a policy or a
/// tuple as Keras writes it.
Value ConfigIn::converted_value(const Value& value, const ExpectedObject& expected) const {
  if (value.is_list()) {
    List items;
    for (const Value& item : value.as_list()) items.push_back(converted_value(item, expected));
    return items;
  }
  if (value.is_string()) names_.expect_class(expected.kind, value.as_string(), expected.location);
  if (!value.is_dict()) return value;
  if (is_object(value)) return plain_object(value.as_dict(), expected);
  Dict result;
  for (const DictEntry& entry : value.as_dict())
    result.set(entry.key, converted_value(entry.value, expected));
  return result;
}

/// Converts a MeanMetricWrapper or LossFunctionWrapper of tf.keras to the function in it, with the
/// name under which the function is shown.
Value ConfigIn::wrapped_function(const Dict& config, const ExpectedObject& expected) const {
  const std::string function = config.at("fn").as_string();
  const auto info = registry().find(expected.kind.empty() ? "metric" : expected.kind, function);
  if (!info) return function;
  Dict function_options;
  for (const DictEntry& entry : config)
    if (entry.key != "dtype" && info->schema.find(entry.key) && !(entry.value == Value(function)))
      function_options.set(entry.key, entry.value);
  if (function_options.empty()) return function;
  return Dict{{"class_name", info->name},
              {"config", options(info->kind, info->name, function_options)}};
}

Value ConfigIn::plain_object(const Dict& object, const ExpectedObject& expected) const {
  std::string name = class_of(object);
  Dict config = config_of(object);
  if (name == "__lambda__")
    fail("the file holds a Python lambda; code is never loaded from a file");
  if (name == "function" && text_at(object, "config")) return object.at("config");
  if (is_policy(name))
    return config.contains("name") ? config.at("name")
                                   : Codec<DTypePolicy>::encode(Codec<DTypePolicy>::decode(object));
  if (name == "__tuple__") return converted_value(object.at("items"), expected);
  if (name == "__numpy__" || name == "__tensor__") return config.at("value");
  if (text_at(config, "fn") && name.ends_with("Wrapper")) return wrapped_function(config, expected);
  if (is_sequential(name) || is_functional(name)) return layer(object);
  name = names_.registered_class(object);
  if (const std::string kind = kind_beside_layers(name, expected.kind); !kind.empty())
    return Dict{{"class_name", name}, {"config", options(kind, name, config)}};
  if (registry().find(Layer::kKind, name)) return layer(object);
  names_.fail_unknown(expected.kind.empty() ? "class or function" : expected.kind, name,
                      expected.location);
}

/// Returns the value. Fails if it names a function or class that is not registered, because files
/// do not contain the code of functions.
Value ConfigIn::registered_value(const std::string& class_name, const Field& field,
                                 const Value& value) const {
  const std::string& kind = field.kind;
  if (kind.empty() || !value.is_string() || is_own_word(class_name, field.name, value.as_string()))
    return value;
  std::string name = names_.registered_name(value.as_string());
  names_.expect_class(kind, name, concat(class_name, ": option '", field.name, "'"));
  if (!registry().find(kind, name))
    fail(class_name, ": option '", field.name, "': unknown ", kind, " '", name, "'",
         did_you_mean(name, registry().all_names(kind)), ". If it is a function of yours, ",
         how_to_provide(name));
  return name;
}

Dict ConfigIn::compile_options(const Value& training_config) const {
  const SchemaData& schema = schema_of<CompileOptions>("compile");
  Dict result;
  for (const DictEntry& entry : training_config.as_dict()) {
    std::string option = entry.key == "optimizer_config" ? "optimizer" : entry.key;
    const std::string kind = option.ends_with("metrics") ? "metric" : option;
    if (schema.find(option) && !entry.value.is_null())
      result.set(option, converted_value(entry.value, {kind, "compiled with"}));
  }
  // tf.keras writes a list within a list, even if there is only one output
  Value* metrics = result.find("metrics");
  if (metrics && metrics->is_list() && metrics->as_list().size() == 1 &&
      metrics->as_list().front().is_list())
    *metrics = Value(metrics->as_list().front());
  if (origin_.masks_are_weights()) result.set("mask_as_weights", true);
  return result;
}

}  // namespace crescent::keras

#include "keras/configs/config_in.h"

#include <algorithm>
#include <map>

#include "crescent/base/pattern.h"
#include "crescent/model/model.h"
#include "keras/graphs/given_masks.h"
#include "keras/graphs/graph_in.h"
#include "keras/graphs/operation_nodes.h"
#include "keras/graphs/tensorflow_calls.h"
#include "keras/keras1/configurations.h"
#include "keras/vocabulary/code_names.h"
#include "keras/vocabulary/formulas.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

// ---- the tables

/// An option that was renamed from `from` to `to`; the entry is not used for classes that have an
/// option named `from`.
struct RenamedIn {
  const char *from, *to;
};
constexpr RenamedIn kRenamedIn[] = {
    {"batch_shape", "batch_input_shape"},  // of InputLayer in Keras 3
    {"alpha", "negative_slope"},           // of LeakyReLU in Keras 2
    {"lr", "learning_rate"},               // of optimizers in Keras before 2.3
};

/// An option that Crescent's classes lack. It is dropped if its value is `neutral`, which has no
/// effect; "" means that no value has an effect.
struct Dropped {
  const char *option, *neutral;
};
// clang-format off
constexpr Dropped kDropped[] = {
    {"sparse", "false"}, {"ragged", "false"}, {"optional", "false"}, {"input_tensor", "null"},
    {"input_length", ""}, {"implementation", ""}, {"unroll", ""}, {"time_major", "false"},
    {"use_cudnn", ""}, {"synchronized", "false"}, {"renorm", "false"}, {"renorm_momentum", ""},
    {"fused", ""}, {"virtual_batch_size", ""}, {"groups", "1"}, {"keepdims", "false"},
    {"autocast", "true"}, {"stateful", "false"}, {"return_state", "false"},
    {"zero_output_for_mask", ""}, {"query_shape", ""}, {"key_shape", ""}, {"value_shape", ""},
    {"jit_compile", ""}, {"is_legacy_optimizer", ""}, {"rms_scaling", "false"}, {"decay", "0.0"},
    {"quantization_config", "null"}, {"flash_attention", ""}, {"use_gate", "false"}, {"name", ""},
    {"module", ""}, {"function_type", ""}, {"output_shape_type", ""}, {"output_shape_module", ""},
    {"noise_shape", "null"}, {"schedule_decay", "0.004"}, {"dynamic", "true"}, {"fn", ""},
};
// clang-format on

/// The files of Keras 2 to which an entry of a table applies: all of them, or only those of
/// versions up to 2.3.1, before Keras became a part of TensorFlow.
enum class FileVersions { all, before_tensorflow };

/// A value `keras2` of an option that means something else in Keras 2 than in Keras 3; Crescent's
/// name of the value with the meaning of Keras 2 is `crescent`.
struct RenamedValue {
  const char *option, *keras2, *crescent;
  FileVersions versions = FileVersions::all;
};
constexpr RenamedValue kRenamedValues[] = {
    {"activation", "hard_sigmoid", "hard_sigmoid_keras2"},
    {"recurrent_activation", "hard_sigmoid", "hard_sigmoid_keras2"},
    {"reduction", "auto", "sum_over_batch_size"},  // written by tf.keras
    {"interpolation", "bilinear", "bilinear_keras2", FileVersions::before_tensorflow},
};

/// An option that files of Keras 2 do not contain and that must have this value, because the
/// formula of Keras 2 differs from Crescent's default.
struct OldDefault {
  const char *class_name, *option;
  double value;  ///< for a boolean option 0 or 1
  FileVersions versions = FileVersions::all;
};
constexpr OldDefault kOldDefaults[] = {
    {"GRU", "reset_after", false},
    {"GRUCell", "reset_after", false},
    {"RMSprop", "epsilon_outside", true, FileVersions::before_tensorflow},
    {"Adagrad", "epsilon_outside", true, FileVersions::before_tensorflow},
    {"Adagrad", "initial_accumulator_value", 0, FileVersions::before_tensorflow},
    {"Concatenate", "mask_all", true},
    {"ActivityRegularization", "whole_batch", true, FileVersions::before_tensorflow},
    {"BatchNormalization", "batch_when_frozen", true, FileVersions::before_tensorflow},
    {"BatchNormalization", "count_masked", true, FileVersions::before_tensorflow}};

/// A class that was replaced by the class `by`, perhaps with a value of an option: the layers of
/// cuDNN, and some layers of a FeatureSpace.
struct Replaced {
  const char *class_name, *by, *option;
  bool value;
};
constexpr Replaced kReplaced[] = {{"CuDNNLSTM", "LSTM", nullptr, false},
                                  {"CuDNNGRU", "GRU", "reset_after", true},
                                  {"TFDConcat", "Concatenate", nullptr, false},
                                  {"TFDIdentity", "Identity", nullptr, false}};

}  // namespace

ConfigIn::ConfigIn(Origin origin, Value custom, Value plugins)
    : origin_(std::move(origin)), names_(std::move(custom), std::move(plugins)) {}

Value ConfigIn::model(const Value& object) const {
  if (!object.is_dict()) fail("expected an object with class_name and config, got ", object);
  const auto padded =
      origin_.flipped_kernels() ? padded_differently_by_theano(object) : std::vector<std::string>();
  if (!padded.empty())
    warn(
        "Theano, on which this model was saved, puts the zeros of padding \"same\" at other ends "
        "than TensorFlow, as is done here; predictions differ because of ",
        join(padded));
  return layer(origin_.generation() < 2 ? from_keras1(object).as_dict() : object.as_dict());
}

Value build_shape_in(const Value& build_config) {
  if (!build_config.is_dict()) return {};
  for (const DictEntry& entry : build_config.as_dict()) {
    if (entry.key != "input_shape" && entry.key != "shapes_dict") continue;
    if (!entry.value.is_dict()) return entry.value;
    List shapes;  // the shapes of named inputs, sorted by name
    std::map<std::string, Value> sorted;
    for (const DictEntry& shape : entry.value.as_dict()) sorted[shape.key] = shape.value;
    for (const auto& [name, shape] : sorted) shapes.push_back(shape);
    return shapes;
  }
  return {};
}

Value ConfigIn::layer(const Dict& object) const {
  Dict converted = single_layer(object);
  keep_shared_id(object, converted, kSharedId);
  return converted;
}

/// {"class_name", "config"} of a layer, without the other keys of Keras 3 (module, registered_name,
/// build_config).
Dict ConfigIn::single_layer(const Dict& object) const {
  std::string name = names_.of(object);
  if (is_sequential(name))
    return Dict{{"class_name", name}, {"config", sequential(object.at("config"))}};
  if (const Dict given = config_of(object); is_graph(name, given)) {
    if (is_functional(name))
      return Dict{{"class_name", "Functional"}, {"config", functional(given)}};
    if (!registry().find("layer", name))
      names_.fail_unknown("layer", name, concat("model '", name, "'"));
    return Dict{{"class_name", name}, {"config", with_own_options(functional(given), given)}};
  }
  Dict config = config_of(object);
  for (const Replaced& row : kReplaced) {
    if (name != row.class_name) continue;
    name = row.by;
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
  if (name == "TimeDistributed" && origin_.generation() >= 3 && !origin_.written_by_crescent)
    leave_out_penalty(config["layer"]);
  return Dict{{"class_name", name}, {"config", options("layer", name, config)}};
}

namespace {

void keep(const Dict& config, const char* option, Dict& result) {
  if (const Value* value = config.find(option); value && !value->is_null())
    result.set(option, *value);
}

}  // namespace

Dict ConfigIn::sequential(const Value& config) const {
  bool bare = config.is_list();  // the configuration of a Sequential was a list before Keras 2.2.3
  List layers;
  for (const Value& entry : bare ? config.as_list() : config.as_dict().at("layers").as_list())
    layers.push_back(layer(entry.as_dict()));
  Dict result;
  if (!bare)
    for (const char* option : {"name", "trainable", "build_input_shape"})
      keep(config.as_dict(), option, result);
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

/// Sets the option mask_with_states of a recurrent layer that is called with initial states: in
/// Keras 2 such calls apply the mask, too.
void keep_masks_of_keras2(const ClassInfo& info, const List& nodes, Dict& layer) {
  const bool has_states = std::any_of(nodes.begin(), nodes.end(),
                                      [](const Value& node) { return node.as_list().size() > 1; });
  if (has_states && info.schema.find(kMaskWithStates))
    layer["config"].as_dict().set(kMaskWithStates, true);
}

/// Fails for an operation that is not registered; the message names the plugin that had it.
void check_operation(const Dict& object, const ClassNames& names) {
  const Dict config = config_of(object);
  const std::string* function = text_at(config, "operation");
  if (class_of(object) == kOperationLayer && function && !registry().find("operation", *function))
    names.fail_unknown("operation", *function, concat("layer '", name_of_layer(object), "'"));
}

}  // namespace

Dict ConfigIn::functional(const Dict& config) const {
  Dict result;
  for (const char* option : {"name", "trainable", "added_losses", "added_metrics"})
    keep(config, option, result);
  List layers;
  const List& entries = config.at("layers").as_list();
  const std::map<std::string, Dict> calls =
      tensorflow_calls_in(entries, references_in(config.at("output_layers")));
  const GivenMasks masks(entries, [&](const Dict& entry) { return passes_masks_on(entry); });
  for (const Value& entry : entries) {
    const Dict& object = entry.as_dict();
    if (take_addition(object, result)) continue;
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
    Dict converted = layer(object).as_dict();
    converted.set("name", name_of_layer(object));
    auto info = registry().find("layer", class_of(converted));
    List nodes;
    for (const Value& node : object.at("inbound_nodes").as_list())
      nodes.push_back(
          call_in(masks.come_with_inputs(node) ? without_mask(node) : node, info.get()));
    if (info && origin_.generation() < 3) keep_masks_of_keras2(*info, nodes, converted);
    converted.set("inbound_nodes", std::move(nodes));
    layers.push_back(std::move(converted));
  }
  List inputs = references_in(config.at("input_layers")),
       outputs = references_in(config.at("output_layers"));
  count_nested_from_zero(layers, outputs);
  result.set("layers", std::move(layers));
  result.set("input_layers", std::move(inputs));
  result.set("output_layers", std::move(outputs));
  for (const char* own : {"input_structure", "output_structure", "input_keys", "output_keys"})
    keep(config, own, result);
  for (const auto& [ends, own] : {std::pair{"input_layers", "input_structure"},
                                  std::pair{"output_layers", "output_structure"}})
    if (Value structure = structure_in(config.at(ends)); !structure.is_null())
      result.set(own, std::move(structure));
  return result;
}

/// Converts a value that may be an object, a function, a policy or a tuple as Keras writes it.
Value ConfigIn::nested(const Value& value, const Expected& expected) const {
  if (value.is_list()) {
    List items;
    for (const Value& item : value.as_list()) items.push_back(nested(item, expected));
    return items;
  }
  if (!value.is_dict()) return value;
  if (is_object(value)) return plain_object(value.as_dict(), expected);
  Dict result;
  for (const DictEntry& entry : value.as_dict())
    result.set(entry.key, nested(entry.value, expected));
  return result;
}

/// Converts a MeanMetricWrapper or LossFunctionWrapper of tf.keras to its function, with the name
/// under which it is shown.
Value ConfigIn::wrapped_function(const Dict& config, const Expected& expected) const {
  const std::string function = config.at("fn").as_string();
  const auto info = registry().find(expected.kind.empty() ? "metric" : expected.kind, function);
  if (!info) return function;
  Dict given;
  for (const DictEntry& entry : config)
    if (entry.key != "dtype" && info->schema.find(entry.key) && !(entry.value == Value(function)))
      given.set(entry.key, entry.value);
  if (given.empty()) return function;
  return Dict{{"class_name", info->name}, {"config", options(info->kind, info->name, given)}};
}

Value ConfigIn::plain_object(const Dict& object, const Expected& expected) const {
  std::string name = class_of(object);
  Dict config = config_of(object);
  if (name == "__lambda__")
    fail("the file holds a Python lambda; code is never loaded from a file");
  if (name == "function" && text_at(object, "config")) return object.at("config");
  if (is_policy(name))
    return config.contains("name") ? config.at("name")
                                   : Codec<DTypePolicy>::encode(Codec<DTypePolicy>::decode(object));
  if (name == "__tuple__") return nested(object.at("items"), expected);
  if (name == "__numpy__" || name == "__tensor__") return config.at("value");
  if (text_at(config, "fn") && name.ends_with("Wrapper")) return wrapped_function(config, expected);
  if (is_sequential(name) || is_functional(name)) return layer(object);
  name = names_.of(object);
  if (const std::string kind = kind_beside_layers(name, expected.kind); !kind.empty())
    return Dict{{"class_name", name}, {"config", options(kind, name, config)}};
  if (registry().find(Layer::kKind, name)) return layer(object);
  names_.fail_unknown(expected.kind.empty() ? "class or function" : expected.kind, name,
                      expected.place);
}

/// Fails if an option names a function or class that is not registered: files do not contain the
/// code of functions.
Value ConfigIn::known(const std::string& class_name, const Field& field, const Value& value) const {
  const std::string& kind = field.kind;
  if (kind.empty() || !value.is_string() || is_own_word(class_name, field.name, value.as_string()))
    return value;
  std::string name = names_.registered(value.as_string());
  if (!registry().find(kind, name))
    fail(class_name, ": option '", field.name, "': unknown ", kind, " '", name, "'",
         did_you_mean(name, registry().all_names(kind)), ". If it is a function of yours, ",
         how_to_provide(name));
  return name;
}

namespace {

bool neutral(const std::string& option, const Value& value) {
  if (value.is_null()) return true;
  return std::any_of(std::begin(kDropped), std::end(kDropped), [&](const Dropped& row) {
    return option == row.option && (!*row.neutral || to_json(value) == row.neutral);
  });
}

bool is_of(FileVersions versions, const Origin& origin) {
  return versions == FileVersions::all ? origin.generation() <= 2 : origin.before_tensorflow();
}

/// The value of an option under Crescent's name; files of some versions of Keras 2 use the name
/// with another meaning (kRenamedValues).
Value current_value(const std::string& option, const Value& value, const Origin& origin) {
  for (const RenamedValue& row : kRenamedValues)
    if (option == row.option && value == Value(row.keras2) && is_of(row.versions, origin))
      return row.crescent;
  return value;
}

/// Sets the divisor of the moving variance: n - 1 - epsilon in Keras 2.3.1, n - 1 in tf.keras for
/// images, for which it calls an operation of TensorFlow.
void add_moving_variance(const Origin& origin, Dict& config) {
  const Value *epsilon = config.find("epsilon"), *axis = config.find("axis");
  constexpr int kLastOfImage = 3;
  if (origin.corrects_variance())
    config.set("moving_variance_ddof", 1 + (epsilon ? epsilon->as_float() : 1e-3));
  else if (origin.generation() == 2 && !origin.before_tensorflow() && axis &&
           *axis == Value(List{kLastOfImage}))
    config.set("moving_variance_ddof", 1.0);
}

/// Converts 1 and 0, which Python accepts and writes for true and false.
Value as_boolean(const Value& value) {
  return value == Value(1) ? Value(true) : value == Value(0) ? Value(false) : value;
}

constexpr const char* kDecay = "decay";

/// Whether the option is the `decay` of all optimizers in Keras 2, and not an option that a class
/// of the user declares.
bool is_decay_of_keras2(const ClassInfo& info, const std::string& option, const Origin& origin) {
  const bool own = is_foreign(info) && (info.schema.find(kDecay) || origin.generation() >= 3);
  return info.kind == Optimizer::kKind && option == kDecay && !own;
}

/// Converts `decay` of Keras 2 to a schedule: lr / (1 + decay * iterations).
void decay_to_schedule(Dict& config) {
  const Value* decay = config.find(kDecay);
  const Value* rate = config.find("learning_rate");
  if (!decay || !decay->is_number() || decay->as_float() == 0 || !rate || !rate->is_number())
    return;
  Dict schedule{{"initial_learning_rate", *rate}, {"decay_steps", 1}, {"decay_rate", *decay}};
  config.set("learning_rate",
             Dict{{"class_name", "InverseTimeDecay"}, {"config", std::move(schedule)}});
  config.erase(kDecay);
}

/// Fails for an option that is a path: an untrusted file could name any file of the user.
void refuse_path(const std::string& class_name, const std::string& option, const Value& value) {
  if (option == "vocabulary" && value.is_string())
    fail(class_name, ": Requested the loading of a vocabulary file outside of the model archive. ",
         "This carries a potential risk of loading arbitrary and sensitive files and thus it is ",
         "disallowed. Vocabulary file: '", value.as_string(), "'");
}

/// The dtype policy that a policy map has for a layer, which is looked up by its name: paths of
/// layers are not known while a file is read.
Value policy_for(const Value& map, const std::string& layer) {
  const Dict config = config_of(map.as_dict());
  const Value* policies = config.find("policy_map");
  std::vector<Value> fitting;
  if (policies && policies->is_dict()) {
    for (const DictEntry& entry : policies->as_dict()) {
      if (entry.key == layer) return entry.value;
      if (Pattern(entry.key, "DTypePolicyMap").matches(layer)) fitting.push_back(entry.value);
    }
  }
  if (fitting.size() > 1)
    fail("DTypePolicyMap: expected one pattern that fits layer '", layer, "', got ",
         fitting.size());
  const Value* general = config.find("default_policy");
  return fitting.empty() ? general ? *general : Value() : fitting.front();
}

bool is_policy_map(const Value& value) {
  return is_object(value) && class_of(value) == "DTypePolicyMap";
}

}  // namespace

/// Converts the Keras options of an object to those of the registered class: names and values are
/// translated where they differ.
Dict ConfigIn::options(std::string_view kind, const std::string& class_name,
                       const Dict& config) const {
  auto class_info = registry().get(kind, class_name);
  const SchemaData& schema = class_info->schema;
  Dict result;
  for (const DictEntry& entry : config) {
    std::string option = entry.key;
    for (const RenamedIn& row : kRenamedIn)
      if (option == row.from && !schema.find(row.from) && schema.find(row.to)) option = row.to;
    // an alias is replaced by the option's main name
    if (const Field* field = schema.find(option)) option = field->name;
    if (!schema.find(option) && !class_info->open_options && neutral(option, entry.value) &&
        !is_decay_of_keras2(*class_info, option, origin_))
      continue;
    refuse_path(class_name, option, entry.value);
    // A file's code of a Lambda is not read. The user may pass a function under the name of the
    // layer, and a mask function under that name plus "_mask".
    const bool is_mask = option == "mask",
               has_code = entry.value.is_dict() || entry.value.is_list();
    const bool code = class_name == "Lambda" && has_code && (option == "function" || is_mask);
    const Field* known_field = schema.find(option);
    const Expected expected{known_field ? known_field->kind : "",
                            concat("option '", option, "' of ", kind, " ", class_name)};
    const Value given = is_policy_map(entry.value)
                            ? policy_for(entry.value, name_of_layer(Dict{{"config", config}}))
                            : entry.value;
    if (given.is_null() && option == "dtype") continue;
    Value value = code ? Value(config.at("name").as_string() + (is_mask ? "_mask" : ""))
                       : nested(given, expected);
    value = current_value(option, value, origin_);
    if (origin_.before_tensorflow() && option == kActivityRegularizer && !value.is_null())
      value = Dict{{"class_name", kActivityKeras2}, {"config", Dict{{"regularizer", value}}}};
    if (origin_.before_tensorflow() && kind == "optimizer" && option == "clipnorm")
      option = "global_clipnorm";  // the norm of all gradients together
    if (const Field* field = schema.find(option)) value = known(class_name, *field, value);
    if (const Field* field = schema.find(option); field && field->type == Codec<bool>::type())
      value = as_boolean(value);
    result.set(option, std::move(value));
  }
  if (schema.find(kCarryMask) && !result.contains(kCarryMask)) result.set(kCarryMask, false);
  for (const OldDefault& row : kOldDefaults) {
    // null if the class is an operation with the same name as a layer
    const Field* field = schema.find(row.option);
    if (field && class_name == row.class_name && is_of(row.versions, origin_) &&
        !result.contains(row.option))
      result.set(row.option,
                 field->type == Codec<bool>::type() ? Value(row.value != 0) : Value(row.value));
  }
  if (class_name == "BatchNormalization") add_moving_variance(origin_, result);
  if (is_decay_of_keras2(*class_info, kDecay, origin_)) {
    decay_to_schedule(result);
    result.erase(kDecay);
  }
  return result;
}

Dict ConfigIn::compile_options(const Value& training_config) const {
  const SchemaData& schema = schema_of<CompileOptions>("compile");
  Dict result;
  for (const DictEntry& entry : training_config.as_dict()) {
    std::string option = entry.key == "optimizer_config" ? "optimizer" : entry.key;
    const std::string kind = option.ends_with("metrics") ? "metric" : option;
    if (schema.find(option) && !entry.value.is_null())
      result.set(option, nested(entry.value, {kind, "compiled with"}));
  }
  // tf.keras writes a list in a list, even if there is only one output
  Value* metrics = result.find("metrics");
  if (metrics && metrics->is_list() && metrics->as_list().size() == 1 &&
      metrics->as_list().front().is_list())
    *metrics = Value(metrics->as_list().front());
  if (origin_.masks_are_weights()) result.set("mask_as_weights", true);
  return result;
}

}  // namespace crescent::keras

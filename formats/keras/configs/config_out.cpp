#include "keras/configs/config_out.h"

#include <algorithm>
#include <set>

#include "crescent/base/structure.h"
#include "crescent/registry/registry.h"
#include "keras/configs/config_out_keras3.h"
#include "keras/graphs/call_numbers.h"
#include "keras/graphs/operation_nodes.h"
#include "keras/vocabulary/code_names.h"
#include "keras/vocabulary/formulas.h"
#include "keras/vocabulary/keras2_vocabulary.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

/// An initializer that Keras 2.3.1 cannot load as a class. It is written as a VarianceScaling with
/// these options.
struct VarianceScalingOptions {
  const char* name;
  double scale;
  const char *mode, *distribution;
};
// clang-format off
constexpr VarianceScalingOptions kVarianceScalings[] = {
    {"GlorotUniform", 1, "fan_avg", "uniform"}, {"GlorotNormal", 1, "fan_avg", "normal"},
    {"HeUniform", 2, "fan_in", "uniform"}, {"HeNormal", 2, "fan_in", "normal"},
    {"LecunUniform", 1, "fan_in", "uniform"}, {"LecunNormal", 1, "fan_in", "normal"},
};
// clang-format on

/// An option of a class that has another name in Keras.
struct ExportedOptionName {
  const char *class_name, *crescent, *keras;
};
constexpr ExportedOptionName kExportedOptionNames[] = {{"LeakyReLU", "negative_slope", "alpha"}};

/// An option that is a list in Crescent but a single number in Keras.
struct ScalarOption {
  const char *class_name, *option;
};
constexpr ScalarOption kScalarOptions[] = {
    {"BatchNormalization", "axis"}, {"Dot", "axes"},      {"MaxNorm", "axis"},
    {"MinMaxNorm", "axis"},         {"UnitNorm", "axis"}, {"UnitNormalization", "axis"}};

/// Options that must be written even if they are null.
constexpr ScalarOption kOptionsWrittenIfNull[] = {{"TextVectorization", "ngrams"}};

/// Whether the Python module of the layer's class must be written. Without the module Keras 3 looks
/// up the layers of an .h5 file among its public names. It then also replaces texts that are names
/// of functions ("dot") by these functions, and drops an axis that is not a number.
bool needs_module(const Dict& layer) {
  const std::string class_name = class_of(layer);
  const Dict config = config_of(layer);
  const Value* axis = config.find("axis");
  return is_unexported_in_keras3(class_name) || class_name == "Attention" ||
         (axis && !axis->is_number() && !(axis->is_list() && axis->as_list().size() == 1));
}

bool has_structure(const Value& call) {
  const List& references = call.as_list();
  return std::any_of(references.begin(), references.end(), [](const Value& reference) {
    const List& parts = reference.as_list();
    return parts.size() > 3 && parts[3].is_dict() && parts[3].as_dict().contains(kInputStructure);
  });
}

/// Whether a call of a layer passes tensors as named or nested arguments, not as one list.
bool passes_by_name(const std::string& class_name, const Value& call) {
  return has_edge(call) || has_structure(call) ||
         (call.as_list().size() > 1 && names_inputs(class_name));
}

bool is_model(const std::string& class_name) {
  return is_sequential(class_name) || is_functional(class_name);
}

/// Whether the output of a model inside the model with this configuration is among its outputs.
bool has_model_output(const Dict& config) {
  const Value *layers = config.find("layers"), *outputs = config.find("output_layers");
  if (!layers || !outputs || !layers->is_list() || !outputs->is_list()) return false;
  std::set<std::string> model_names;
  for (const Value& entry : layers->as_list())
    if (is_model(class_of(entry))) model_names.insert(name_of_layer(entry.as_dict()));
  return std::any_of(
      outputs->as_list().begin(), outputs->as_list().end(),
      [&](const Value& output) { return model_names.contains(output.as_list()[0].as_string()); });
}

/// Whether the configuration of a model, or of a model in it, has calls that only the form of
/// Keras 3 tells exactly.
bool needs_keras3_form(const Value& value) {
  if (value.is_list())
    return std::any_of(value.as_list().begin(), value.as_list().end(), needs_keras3_form);
  if (!value.is_dict()) return false;
  const Dict& dict = value.as_dict();
  if (has_model_output(dict)) return true;
  const Value* nodes = dict.find("inbound_nodes");
  if (nodes && nodes->is_list())
    for (const Value& call : nodes->as_list())
      if (passes_by_name(class_of(value), call)) return true;
  return std::any_of(dict.begin(), dict.end(),
                     [](const DictEntry& entry) { return needs_keras3_form(entry.value); });
}

class ConfigWriter {
 public:
  /// `keras3_form` is the configuration of the same model in the form of Keras 3, or null if no
  /// part of it is needed.
  ConfigWriter(const std::string& target_generation, const Value& keras3_form)
      : is_for_keras3_(target_generation == "keras3"), keras3_root_(keras3_form) {}

  Value model(const Value& model) const {
    return plain_object(class_of(model), config_of(model.as_dict()), keras3_root_);
  }

  Value value(const Value& value, const std::string& kind) const {
    if (value.is_list()) {
      List items;
      for (const Value& item : value.as_list()) items.push_back(this->value(item, kind));
      return items;
    }
    if (value.is_string()) return name_in_keras(kind, value);
    if (!value.is_dict()) return value;
    if (is_object(value) && value.as_dict().contains("config")) return nested_object(value, kind);
    Dict result;
    for (const DictEntry& entry : value.as_dict())
      result.set(entry.key, this->value(entry.value, kind));
    return result;
  }

 private:
  /// Translates a name in Crescent to the name with the same meaning in all generations of Keras:
  /// for example, all of them read "normal" as the truncated normal distribution.
  static Value name_in_keras(const std::string& option_or_kind, const Value& name) {
    const bool is_truncated = option_or_kind == "distribution" && name == Value("truncated_normal");
    return is_truncated ? Value("normal") : keras_name(option_or_kind, name);
  }

  /// Writes a function of the user: as an object for Keras 3, by its name alone for earlier
  /// generations.
  Value function(const std::string& name) const {
    return is_for_keras3_ ? Value(function_object(name)) : Value(name);
  }

  /// Writes an object that is not a layer of the model, such as an initializer. Keras 3 needs the
  /// Python module of its class.
  Value nested_object(const Value& value, const std::string& expected) const {
    const std::string kind = kind_given(expected, class_of(value));
    const Dict config = config_of(value.as_dict());
    if (class_of(value) == kActivityKeras2) return this->value(config.at("regularizer"), kind);
    if (is_own_function(kind, class_of(value))) return function(class_of(value));
    Dict written_object = plain_object(class_of(value), config, {}, kind);
    if (is_for_keras3_) written_object = with_module(kind, written_object);
    copy_shared_id(value.as_dict(), written_object, kCrescentSharedId);
    return written_object;
  }

  /// Writes a layer of a model. The Python module of its class is included; Keras 2.3.1 and
  /// tf.keras ignore it.
  Dict layer_of_model(const std::string& class_name, const Dict& config,
                      const Value& keras3_form) const {
    const Dict layer = plain_object(class_name, config, keras3_form);
    return is_for_keras3_ && !is_model(class_name) && needs_module(layer)
               ? with_module("layer", layer)
               : layer;
  }

  /// Copies the input shape of a nested Sequential from its InputLayer to the next layer, where
  /// Keras 2.3.1 looks for it.
  static void set_first_input_shape(Dict& sequential) {
    List& layers = sequential["layers"].as_list();
    if (layers.size() < 2 || class_of(layers[0]) != "InputLayer" || is_model(class_of(layers[1])))
      return;
    layers[1].as_dict()["config"].as_dict().set(
        "batch_input_shape", Value(config_of(layers[0].as_dict()).at("batch_input_shape")));
  }

  /// Returns {"class_name", "config"}, the form of layers in .h5 files of all generations.
  Dict plain_object(const std::string& class_name, const Dict& config, const Value& keras3_form,
                    const std::string& kind = "layer") const {
    auto object = [](std::string class_name, Dict config) {
      return Dict{{"class_name", std::move(class_name)}, {"config", std::move(config)}};
    };
    if (is_sequential(class_name)) return object(class_name, sequential(config, keras3_form));
    if (is_graph(class_name, config)) {
      if (is_functional(class_name))
        return object(is_for_keras3_ ? "Functional" : "Model", functional(config, keras3_form));
      return object(class_name, with_class_options(functional(config, keras3_form), config));
    }
    if (class_name == "InputLayer") return object(class_name, input_options(config));
    for (const VarianceScalingOptions& row : kVarianceScalings)
      if (class_name == row.name)
        return object("VarianceScaling", variance_scaling_options(row, config));
    if (class_name == "L1" || class_name == "L2") return object("L1L2", l1_l2_options(config));
    if (const auto activation = activation_of_lambda(class_name, config))
      return object("Activation", options("layer", "Activation", *activation));
    return object(class_name, options(kind, class_name, config));
  }

  static Dict variance_scaling_options(const VarianceScalingOptions& row, const Dict& config) {
    Dict result{{"scale", row.scale}, {"mode", row.mode}, {"distribution", row.distribution}};
    for (const DictEntry& entry : config)
      if (!entry.value.is_null()) result.set(entry.key, entry.value);
    return result;
  }

  static Dict l1_l2_options(const Dict& config) {
    Dict result{{"l1", 0.0}, {"l2", 0.0}};
    for (const DictEntry& entry : config) result.set(entry.key, entry.value);
    return result;
  }

  static Dict input_options(const Dict& config) {
    const Value* dtype = config.find("dtype");
    bool is_plain_dtype =
        dtype && dtype->is_string() && dtype->as_string().find('_') == std::string::npos;
    Dict options{{"batch_input_shape", config.at("batch_input_shape")},
                 {"dtype", is_plain_dtype ? *dtype : Value("float32")},
                 {"sparse", false},
                 {"name", config.at("name")}};
    if (config.contains("optional")) options.set("optional", true);
    return options;
  }

  /// Whether an option is not written: its value has no effect, or the target lacks the option and
  /// always behaves as this value says.
  bool is_omitted(const Field* field, std::string_view kind, const std::string& class_name,
                  const Value& value) const {
    if (!field) return false;
    if (field->name == kCarryMask || chooses_formula(class_name, field->name, is_for_keras3_))
      return true;
    if (value.is_null() && field->default_value.is_null())
      return !has_row(kOptionsWrittenIfNull, class_name, field->name);
    if (is_for_keras3_ && keras3_lacks(class_name, field->name)) return true;
    const bool is_base_option = kind != "layer" && field->keyword_only;
    return value == field->default_value &&
           (is_base_option || keras2_has_class(kind, class_name)) &&
           !keras2_has_option(kind, class_name, field->name);
  }

  Dict options(const std::string& kind, const std::string& class_name, const Dict& config) const {
    auto info = kind.empty() ? find_class(class_name) : registry().find(kind, class_name);
    Dict result;
    for (const DictEntry& entry : config) {
      const Field* field = info ? info->schema.find(entry.key) : nullptr;
      if (is_build_shape(info.get(), entry.key) || is_omitted(field, kind, class_name, entry.value))
        continue;
      std::string option = entry.key;
      for (const ExportedOptionName& row : kExportedOptionNames)
        if (class_name == row.class_name && option == row.crescent) option = row.keras;
      const Value translated = name_in_keras(option, entry.value);
      const std::string object_kind = field ? field->kind : "";
      if (translated.is_string() && is_own_function(object_kind, translated.as_string()) &&
          !is_own_word(class_name, option, translated.as_string()))
        result.set(option, function(translated.as_string()));
      else
        result.set(option, has_row(kScalarOptions, class_name, option)
                               ? first_of(translated)
                               : value(translated, object_kind));
    }
    if (class_name == "Bidirectional") drop_implied_direction(result);
    if (!is_for_keras3_ && kind == "optimizer" && class_name == "Nadam" &&
        !result.contains("schedule_decay"))
      // the value with which Keras 3 computes; the default of Keras 2 is 0.004
      result.set("schedule_decay", 1.0);
    return result;
  }

  /// Drops the option backward_layer, which Keras 2.3.1 lacks, if it is the layer that Keras
  /// derives from the forward layer. Then the prefix "forward_" of the layer's name is dropped as
  /// well, because Keras adds it itself.
  void drop_implied_direction(Dict& config) const {
    const std::string prefix = "forward_";
    Dict& forward_config = config["layer"].as_dict()["config"].as_dict();
    const std::string* name = text_at(forward_config, "name");
    const std::string name_without_prefix = name && name->starts_with(prefix)
                                                ? name->substr(prefix.size())
                                            : name ? *name
                                                   : "";
    Value implied_layer = config.at("layer");
    Dict& backward_config = implied_layer.as_dict()["config"].as_dict();
    const Value* direction = forward_config.find("go_backwards");
    backward_config.set("go_backwards",
                        !(direction && direction->is_bool() && direction->as_bool()));
    backward_config.set("name", "backward_" + name_without_prefix);
    const Value* backward_layer = config.find("backward_layer");
    if (!backward_layer || !(*backward_layer == implied_layer)) return;
    if (!is_for_keras3_) forward_config.erase("zero_output_for_mask");
    config.erase("backward_layer");
    forward_config.set("name", name_without_prefix);
  }

  template <size_t N>
  static bool has_row(const ScalarOption (&table)[N], const std::string& class_name,
                      const std::string& option) {
    return std::any_of(std::begin(table), std::end(table), [&](const ScalarOption& row) {
      return class_name == row.class_name && option == row.option;
    });
  }

  static Value first_of(const Value& list) {
    return list.is_list() && list.as_list().size() == 1 ? Value(list.as_list().front()) : list;
  }

  /// Writes a Sequential with an InputLayer, because without one Keras 3 misreads the
  /// batch_input_shape of the first layer.
  Dict sequential(const Dict& config, const Value& keras3_form) const {
    const List keras3_layers = layers_of(keras3_form);
    List layers;
    for (const Value& entry : config.at("layers").as_list()) {
      Dict options = config_of(entry.as_dict());
      const bool is_input = class_of(entry) == "InputLayer";
      if (layers.empty() && !is_input && options.contains("batch_input_shape"))
        layers.push_back(Dict{{"class_name", "InputLayer"}, {"config", implied_input(options)}});
      if (!is_input) options.erase("batch_input_shape");
      layers.push_back(
          layer_of_model(class_of(entry), options, layer_at(keras3_layers, layers.size())));
      copy_shared_id(entry.as_dict(), layers.back().as_dict(), kCrescentSharedId);
      if (layers.size() == 1 && is_sequential(class_of(entry)) && !is_for_keras3_)
        set_first_input_shape(layers[0].as_dict()["config"].as_dict());
    }
    Dict result;
    if (const Value* name = config.find("name")) result.set("name", *name);
    bool has_input = !layers.empty() && class_of(layers.front()) == "InputLayer";
    result.set("layers", std::move(layers));
    const Value* shape = config.find("build_input_shape");
    if (shape && !shape->is_null() && !has_input) result.set("build_input_shape", *shape);
    return result;
  }

  /// The layers in `keras3_form`, the configuration of the model in the form of Keras 3; empty if
  /// it is null.
  static List layers_of(const Value& keras3_form) {
    if (!is_object(keras3_form)) return {};
    const Value* layers = keras3_form.as_dict().at("config").as_dict().find("layers");
    return layers ? layers->as_list() : List();
  }
  static Value layer_at(const List& layers, size_t i) {
    return i < layers.size() ? layers[i] : Value();
  }

  static Dict implied_input(const Dict& first_config) {
    const Value* name = first_config.find("name");
    Dict config{{"batch_input_shape", first_config.at("batch_input_shape")},
                {"name", (name ? name->as_string() + "_" : "") + "input"}};
    if (const Value* dtype = first_config.find("dtype")) config.set("dtype", *dtype);
    return input_options(config);
  }

  Dict functional(const Dict& config, const Value& keras3_form) const {
    std::set<std::string> model_names;
    for (const Value& entry : config.at("layers").as_list())
      if (is_model(class_of(entry))) model_names.insert(entry.as_dict().at("name").as_string());
    const bool in_keras3_form = is_for_keras3_ && has_model_output(config);
    const List keras3_layers = layers_of(keras3_form);
    List layers;
    for (const Value& entry : config.at("layers").as_list()) {
      const Value keras3_layer = layer_at(keras3_layers, layers.size());
      // An operation is written in the form of Keras 3, with its module. Without the module Keras 3
      // would look for a layer of that name.
      if (is_operation(entry.as_dict())) {
        layers.push_back(keras3_layer);
        continue;
      }
      Dict layer = layer_of_model(class_of(entry), config_of(entry.as_dict()), keras3_layer);
      layer.set("name", entry.as_dict().at("name"));
      layer.set("inbound_nodes", nodes(entry, keras3_layer, model_names, in_keras3_form));
      copy_shared_id(entry.as_dict(), layer, kCrescentSharedId);
      layers.push_back(std::move(layer));
    }
    Dict result;
    if (const Value* name = config.find("name")) result.set("name", *name);
    result.set("layers", std::move(layers));
    for (const auto& [endpoints_key, structure_key] :
         {std::pair{"input_layers", "input_structure"},
          std::pair{"output_layers", "output_structure"}}) {
      const List list = references(config.at(endpoints_key), model_names).as_list();
      result.set(endpoints_key,
                 is_for_keras3_
                     ? keras3_endpoints(outputs_for_keras3(list, config.at("layers").as_list()),
                                        config.find(structure_key))
                     : Value(list));
    }
    return result;
  }

  /// The calls of a layer. A call with named or nested tensors is written in the form of Keras 3,
  /// the only generation that can read such calls. With `in_keras3_form` all calls are, because a
  /// model is among the outputs, and the form tells how the calls of that model are numbered.
  Value nodes(const Value& entry, const Value& keras3_form,
              const std::set<std::string>& model_names, bool in_keras3_form) const {
    List result;
    for (const Value& call : entry.as_dict().at("inbound_nodes").as_list())
      result.push_back(
          is_object(keras3_form) && (in_keras3_form || passes_by_name(class_of(entry), call))
              ? Value(keras3_form.as_dict().at("inbound_nodes").as_list()[result.size()])
              : references(call, model_names));
    return result;
  }

  Value references(const Value& list, const std::set<std::string>& model_names) const {
    List result;
    for (const Value& item : list.as_list()) {
      List parts = item.as_list();
      if (!is_for_keras3_ && model_names.count(parts[0].as_string()))
        parts[1] = parts[1].as_int() + 1;
      if (parts.size() > 3) parts[3] = argument(parts[3], model_names);
      result.push_back(std::move(parts));
    }
    return result;
  }

  /// Writes an argument of a call, in which each tensor becomes [layer, node, tensor], as in
  /// tf.keras.
  Value argument(const Value& value, const std::set<std::string>& model_names) const {
    if (value.is_list()) {
      List items;
      for (const Value& item : value.as_list()) items.push_back(argument(item, model_names));
      return items;
    }
    if (!value.is_dict()) return value;
    if (is_object(value) && class_of(value) == "__keras_tensor__")
      return references(List{config_of(value.as_dict()).at("keras_history")}, model_names)
          .as_list()
          .front();
    Dict dict;
    for (const DictEntry& entry : value.as_dict())
      dict.set(entry.key, argument(entry.value, model_names));
    return dict;
  }

  bool is_for_keras3_;
  Value keras3_root_;
};

}  // namespace

bool has_edge(const Value& value) {
  if (value.is_list()) return std::any_of(value.as_list().begin(), value.as_list().end(), has_edge);
  if (!value.is_dict()) return false;
  if (is_object(value) &&
      (class_of(value) == "__keras_tensor__" || class_of(value) == "__tensor__"))
    return true;
  return std::any_of(value.as_dict().begin(), value.as_dict().end(),
                     [](const DictEntry& entry) { return has_edge(entry.value); });
}

Value keras_model_config(const Value& model, const std::string& target_generation,
                         const Layer* built_model) {
  const bool needs_keras3 =
      target_generation == "keras3" && (needs_keras3_form(model) || has_operation(model));
  const auto keras3_form = [&] {
    return built_model ? keras3_layer_config(*built_model) : keras3_model_config(model);
  };
  return ConfigWriter(target_generation, needs_keras3 ? keras3_form() : Value()).model(model);
}

Value keras_value(const Value& value, const std::string& kind,
                  const std::string& target_generation) {
  return ConfigWriter(target_generation, {}).value(value, kind);
}

}  // namespace crescent::keras

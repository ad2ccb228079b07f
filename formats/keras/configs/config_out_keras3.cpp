#include "keras/configs/config_out_keras3.h"

#include <algorithm>
#include <map>

#include "crescent/base/structure.h"
#include "crescent/io/format.h"
#include "keras/graphs/call_numbers.h"
#include "keras/graphs/operation_nodes.h"
#include "keras/vocabulary/code_names.h"
#include "keras/vocabulary/formulas.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

// ---- tables of the differences between Crescent and Keras 3

struct PythonModule {
  const char* class_or_kind;  ///< a class, or a kind of object
  const char* name;  ///< its Python module, or the name under which Keras 3 exports the class
};
constexpr PythonModule kModules[] = {{"layer", "keras.layers"},
                                     {"initializer", "keras.initializers"},
                                     {"regularizer", "keras.regularizers"},
                                     {"constraint", "keras.constraints"},
                                     {"optimizer", "keras.optimizers"},
                                     {"schedule", "keras.optimizers.schedules"},
                                     {"loss", "keras.losses"},
                                     {"distillation_loss", "keras.distillation"},
                                     {"metric", "keras.metrics"},
                                     {"quantizer", "keras.quantizers"}};

/// The Python modules of classes that Keras does not export. Keras finds such a class by its
/// registered name.
constexpr const char* kFunctionalModule = "keras.src.models.functional";
constexpr PythonModule kUnexportedClasses[] = {
    {"Functional", kFunctionalModule},
    {"LayerScale", "keras.src.applications.convnext"},
    {"StochasticDepth", "keras.src.applications.convnext"},
    {"CustomScaleLayer", "keras.src.applications.inception_resnet_v2"},
    {"ThresholdedReLU", "keras._legacy.layers"}};

/// Classes that Keras 3 does not export in the module of their kind.
constexpr PythonModule kModulesOfClasses[] = {{"Distiller", "keras.distillation"}};

/// Classes that Keras 3 exports under another name.
constexpr PythonModule kPublicNames[] = {{"GroupedQueryAttention", "GroupQueryAttention"}};

/// Layers whose call takes a list of tensors in Keras; in Crescent each tensor also has a name.
constexpr const char* kLayersOfTensorLists[] = {"Attention", "AdditiveAttention"};

/// An option that a class has in Crescent and lacks in Keras 3. An empty option means that Keras 3
/// lacks the class.
struct MissingOption {
  const char *class_name, *option;
};
constexpr MissingOption kMissingOptions[] = {{"Nadam", "schedule_decay"},
                                             {"LocallyConnected1D", ""},
                                             {"LocallyConnected2D", ""},
                                             {"Discretization", "trainable"},
                                             {"Pipeline", "dtype"},
                                             {"Pipeline", "trainable"},
                                             {"StringLookup", "oov_method"},
                                             {"SpatialDropout1D", "trainable"},
                                             {"SpatialDropout2D", "trainable"},
                                             {"SpatialDropout3D", "trainable"}};

/// An option of a class in Keras 3, and the test of whether Keras 3 refuses a value of this option.
struct RefusedValue {
  const char *class_name, *option;
  bool (*refuses)(const Value& value);
};
const RefusedValue kRefusedValues[] = {
    {"SeparableConv1D", "padding", [](const Value& value) { return value == Value("causal"); }},
    {"GaussianNoise", "stddev", [](const Value& value) { return value.as_float() > 1; }},
    {"EinsumDense", "output_shape", [](const Value& value) {
       return value.is_null() || (value.is_list() && value.as_list().empty());
     }}};

/// Options that are lists in Crescent and numbers in Keras 3.
constexpr MissingOption kSingleNumberOptions[] = {
    {"BatchNormalization", "axis"}, {"Dot", "axes"}, {"UnitNormalization", "axis"}};

template <size_t N>
bool names_option(const MissingOption (&table)[N], const std::string& class_name,
                  const std::string& option) {
  return std::any_of(std::begin(table), std::end(table), [&](const MissingOption& row) {
    return class_name == row.class_name && option == row.option;
  });
}

template <size_t N>
const PythonModule* row_of(const PythonModule (&table)[N], const std::string& class_name) {
  for (const PythonModule& row : table)
    if (class_name == row.class_or_kind) return &row;
  return nullptr;
}

/// The Python module of a class in Keras 3; null for a class of the user, which Keras looks up by
/// its registered name.
Value module_of(const std::string& kind, const std::string& class_name) {
  if (is_policy(class_name)) return "keras.dtype_policies";
  for (const PythonModule& row : kModules) {
    if (!kind.empty() && kind != row.class_or_kind) continue;
    if (auto info = registry().find(row.class_or_kind, class_name)) {
      if (is_foreign(*info)) return {};
      for (const PythonModule* exception :
           {row_of(kUnexportedClasses, class_name), row_of(kModulesOfClasses, class_name)})
        if (exception) return exception->name;
      return row.name;
    }
  }
  return {};
}

/// Makes a serialized object with the registered name of its class if Keras needs it; for a class
/// in a package this is a name such as "acme>Scale".
Dict keras_object(Value module, const std::string& class_name, Value config) {
  const bool needs_registered_name = module.is_null() || row_of(kUnexportedClasses, class_name);
  const PythonModule* public_name = row_of(kPublicNames, class_name);
  return {{"module", std::move(module)},
          {"class_name",
           public_name ? public_name->name : class_name.substr(class_name.rfind('>') + 1)},
          {"config", std::move(config)},
          {"registered_name", needs_registered_name ? Value(class_name) : Value()}};
}

/// The kind of object, such as "initializer", that an option of a class holds; "" if it holds no
/// object or the class is unknown.
std::string kind_of(const ClassInfo* info, const std::string& option) {
  const Field* field = info ? info->schema.find(option) : nullptr;
  return field ? field->kind : "";
}

/// Writes a dtype policy, given by its name, which is JSON for a DTypePolicyMap, or, for quantized
/// weights, by its configuration.
Value policy_object(const Value& policy) {
  if (policy.is_string() && DTypePolicy::is_map(policy.as_string())) {
    Dict config = parse_json(policy.as_string()).as_dict();
    for (DictEntry& entry : config["policy_map"].as_dict())
      entry.value = policy_object(entry.value);
    return keras_object("keras.dtype_policies", "DTypePolicyMap", std::move(config));
  }
  if (!is_object(policy)) return keras_object("keras", "DTypePolicy", Dict{{"name", policy}});
  return keras_object(module_of("", class_of(policy)), class_of(policy),
                      config_of(policy.as_dict()));
}

/// Finds the tensor for a reference [layer, node, tensor] of a configuration, in which the nodes of
/// a layer are counted from the first call inside the model.
class OutputTensors {
 public:
  OutputTensors(const Model& model, const List& entries) {
    for (const Value& entry : entries) {
      const std::string name = name_of_layer(entry.as_dict());
      auto nodes = model.get_layer(name)->inbound_nodes();
      const size_t calls = entry.as_dict().at("inbound_nodes").as_list().size();
      // leaves out earlier calls outside of the model, such as the call with which a nested model
      // was made
      if (calls > 0) nodes.erase(nodes.begin(), nodes.end() - static_cast<std::ptrdiff_t>(calls));
      nodes_[name] = std::move(nodes);
    }
  }

  /// Converts [layer, node, tensor, ...] to the form of Keras 3, {"class_name": "__keras_tensor__",
  /// ...}.
  Value tensor(const List& reference) const {
    const auto node = static_cast<size_t>(reference[1].as_int()),
               output = static_cast<size_t>(reference[2].as_int());
    const TensorSpec& spec =
        nodes_.at(reference[0].as_string()).at(node)->outputs.at(output).spec();
    return Dict{
        {"class_name", "__keras_tensor__"},
        {"config", Dict{{"shape", Codec<Shape>::encode(spec.shape)},
                        {"dtype", Codec<DType>::encode(spec.dtype)},
                        {"keras_history", List{reference[0], reference[1], reference[2]}}}}};
  }

  /// Converts all tensor references in an argument of a call.
  Value argument(const Value& value) const {
    if (is_object(value) && class_of(value) == "__keras_tensor__")
      return tensor(config_of(value.as_dict()).at("keras_history").as_list());
    if (value.is_list()) {
      List items;
      for (const Value& item : value.as_list()) items.push_back(argument(item));
      return items;
    }
    if (!value.is_dict()) return value;
    Dict dict;
    for (const DictEntry& entry : value.as_dict()) dict.set(entry.key, argument(entry.value));
    return dict;
  }

 private:
  std::map<std::string, std::vector<NodePtr>> nodes_;  // the calls of each layer in the model
};

/// The indices of those inputs of a layer that can also be passed as named arguments.
std::vector<size_t> named_input_indices(const std::string& class_name) {
  std::vector<size_t> input_indices;
  if (std::find(std::begin(kLayersOfTensorLists), std::end(kLayersOfTensorLists), class_name) !=
      std::end(kLayersOfTensorLists))
    return input_indices;
  if (auto info = registry().find("layer", class_name))
    for (const Argument& argument : info->schema.arguments)
      if (argument.input) input_indices.push_back(static_cast<size_t>(*argument.input));
  std::sort(input_indices.begin(), input_indices.end());
  return input_indices;
}

/// The positional arguments of call(): one tensor, or one list of tensors. For a layer with named
/// inputs these are the inputs in order, of which the last one may be a list.
List positional_arguments(const std::string& class_name, List tensors) {
  const std::vector<size_t> input_indices = named_input_indices(class_name);
  if (input_indices.empty()) return tensors.size() == 1 ? tensors : List{std::move(tensors)};
  List args;
  for (Value& tensor : tensors) {
    if (args.size() <= input_indices.back())
      args.push_back(std::move(tensor));
    else if (args.back().is_list())
      args.back().as_list().push_back(std::move(tensor));
    else
      args.back() = List{args.back(), std::move(tensor)};
  }
  return args;
}

/// The positional arguments of a call: the inputs, then the positional arguments that a class of
/// the user declares, which are removed from `arguments`. The inputs are nested as `structure`
/// says. If `structure` is null and the layer is a model, they are nested as the model's inputs
/// are.
List arguments_of(const Layer& layer, List tensors, const Value& structure, Dict& arguments) {
  const auto* model = dynamic_cast<const Model*>(&layer);
  const Value structure_of_inputs =
      structure.is_null() && model ? model->structures().inputs : structure;
  List args = structure_of_inputs.is_null()
                  ? positional_arguments(layer.class_name(), std::move(tensors))
                  : List{packed(structure_of_inputs, tensors)};
  for (const std::string& name : layer.positional_arguments()) {
    const Value* argument = arguments.find(name);
    if (!argument) break;
    args.push_back(*argument);
    arguments.erase(name);
  }
  return args;
}

Value call(const Layer& layer, const Value& node, const OutputTensors& outputs) {
  List tensors;
  Dict kwargs;
  Value structure;
  for (const Value& reference : node.as_list()) {
    const List& parts = reference.as_list();
    tensors.push_back(outputs.tensor(parts));
    if (parts.size() < 4) continue;
    for (const DictEntry& entry : parts[3].as_dict())
      if (entry.key == kInputStructure)
        structure = entry.value;
      else
        kwargs.set(entry.key, outputs.argument(entry.value));
  }
  List args = arguments_of(layer, std::move(tensors), structure, kwargs);
  return Dict{{"args", std::move(args)}, {"kwargs", std::move(kwargs)}};
}

Value convert_value(const Value& value, const Layer* owner, const std::string& kind = "");
/// Converts a value without writing the shared_object_id of objects.
Value convert_without_shared_id(const Value& value, const Layer* owner, const std::string& kind);

/// Writes the name of a loss as the function of Keras 3 for which it stands.
Value loss_function(const std::string& name) {
  const auto info = registry().find(Loss::kKind, name);
  return function_object(info && !is_foreign(*info) ? to_snake_case(info->name) : name);
}

/// Writes `text`, the value of an option that holds an object of the kind `kind`. The name of a
/// function of the user is written as an object.
Value name_value(const std::string& class_name, const std::string& option, const std::string& kind,
                 const Value& text) {
  const std::string& name = text.as_string();
  if (is_own_function(kind, name) && !is_own_word(class_name, option, name))
    return function_object(name);
  if (kind == Loss::kKind) return loss_function(name);
  return keras_name(kind.empty() ? option : kind, text);
}

Dict layer_options(const std::string& kind, const std::string& name, const Dict& config) {
  const auto info = kind.empty() ? find_class(name) : registry().find(kind, name);
  Dict result;
  for (const DictEntry& entry : config) {
    if (entry.key == "batch_input_shape" || entry.key == kCarryMask ||
        keras3_lacks(name, entry.key) || chooses_formula(name, entry.key, true))
      continue;
    const bool is_single = names_option(kSingleNumberOptions, name, entry.key) &&
                           entry.value.is_list() && entry.value.as_list().size() == 1;
    if (is_single)
      result.set(entry.key, entry.value.as_list().front());
    else if (entry.key == "dtype" && (entry.value.is_string() || is_object(entry.value)))
      result.set(entry.key, policy_object(entry.value));
    else if (const std::string kind = kind_of(info.get(), entry.key); entry.value.is_string())
      result.set(entry.key, name_value(name, entry.key, kind, entry.value));
    else
      result.set(entry.key, convert_value(entry.value, nullptr, kind));
  }
  return result;
}

Dict input_layer(const Dict& config) {
  const Value* dtype = config.find("dtype");
  return keras_object("keras.layers", "InputLayer",
                      Dict{{"batch_shape", config.at("batch_input_shape")},
                           {"dtype", dtype ? *dtype : Value("float32")},
                           {"sparse", false},
                           {"ragged", false},
                           {"name", config.at("name")},
                           {"optional", config.contains("optional")}});
}

/// Writes a Sequential so that its first layer is an InputLayer.
Dict sequential(const Dict& config, const Model& model) {
  List layers;
  for (const Value& entry : config.at("layers").as_list()) {
    const Dict options = config_of(entry.as_dict());
    const bool is_implied =
        layers.empty() && class_of(entry) != "InputLayer" && options.contains("batch_input_shape");
    if (is_implied) {
      Dict input = options;
      input.set("name", name_of_layer(entry.as_dict()) + "_input");
      if (!model.inputs().empty())
        input.set("dtype", Codec<DType>::encode(model.inputs().front().dtype()));
      layers.push_back(input_layer(input));
    }
    const bool is_input = class_of(entry) == "InputLayer";
    const LayerPtr layer = is_input ? nullptr : model.get_layer(name_of_layer(entry.as_dict()));
    layers.push_back(convert_value(entry, layer.get(), Layer::kKind));
  }
  Dict result{{"name", config.at("name")},
              {"trainable", model.trainable()},
              {"dtype", policy_object(Codec<DTypePolicy>::encode(model.policy()))},
              {"layers", std::move(layers)}};
  if (const Value* shape = config.find("build_input_shape"))
    result.set("build_input_shape", *shape);
  else if (model.is_graph())
    result.set("build_input_shape", Codec<Shape>::encode(model.inputs().front().shape()));
  return result;
}

Dict functional(const Dict& config, const Model& model) {
  const List& entries = config.at("layers").as_list();
  const OutputTensors outputs(model, entries);
  List layers;
  for (const Value& entry : entries) {
    const std::string name = name_of_layer(entry.as_dict());
    if (class_of(entry) == kOperationLayer) {
      layers.push_back(operation_out(
          entry.as_dict(), [&](const List& reference) { return outputs.tensor(reference); }));
      continue;
    }
    const LayerPtr built_layer = model.get_layer(name);
    Value layer = convert_value(entry, built_layer.get(), Layer::kKind);
    List nodes;
    for (const Value& node : entry.as_dict().at("inbound_nodes").as_list())
      nodes.push_back(call(*built_layer, node, outputs));
    layer.as_dict().set("name", name);
    layer.as_dict().set("inbound_nodes", std::move(nodes));
    layers.push_back(std::move(layer));
  }
  return {{"name", config.at("name")},
          {"trainable", model.trainable()},
          {"layers", std::move(layers)},
          {"input_layers",
           keras3_endpoints(config.at("input_layers").as_list(), config.find("input_structure"))},
          {"output_layers",
           keras3_endpoints(outputs_for_keras3(config.at("output_layers").as_list(), entries),
                            config.find("output_structure"))}};
}

/// Removes the build_config from the options and returns it, because Keras 3 writes it beside the
/// configuration. It is the data of a class written in Lua, or the input shape of a model.
Value take_build_config(const ClassInfo* info, Dict& options) {
  const Value *build = options.find(kBuildConfig), *shape = options.find(kBuildShape);
  const bool has_shape = shape && is_build_shape(info, kBuildShape);
  Value build_config = build ? *build : has_shape ? Value(Dict{{"input_shape", *shape}}) : Value();
  options.erase(kBuildConfig);
  if (has_shape) options.erase(kBuildShape);
  return build_config;
}

/// Converts a value. `owner` is the layer whose configuration contains it; `expected_kind` is the
/// kind of object that it should be, "" if any kind is possible.
Value convert_value(const Value& value, const Layer* owner, const std::string& expected_kind) {
  Value written_object = convert_without_shared_id(value, owner, expected_kind);
  if (is_object(value) && is_object(written_object))
    copy_shared_id(value.as_dict(), written_object.as_dict(), kCrescentSharedId);
  return written_object;
}

Value convert_without_shared_id(const Value& value, const Layer* owner,
                                const std::string& expected_kind) {
  if (value.is_list()) {
    List items;
    for (const Value& item : value.as_list())
      items.push_back(convert_value(item, nullptr, expected_kind));
    return items;
  }
  if (value.is_string() && expected_kind == Loss::kKind) return loss_function(value.as_string());
  if (!value.is_dict()) return value;
  if (!is_object(value)) {
    Dict dict;
    for (const DictEntry& entry : value.as_dict())
      dict.set(entry.key, convert_value(entry.value, nullptr, expected_kind));
    return dict;
  }
  const std::string name = class_of(value), kind = kind_given(expected_kind, name);
  const Dict config = config_of(value.as_dict());
  if (is_own_function(kind, name)) return function_object(name);
  const bool is_model = is_sequential(name) || is_graph(name, config);
  if (is_model && !owner)
    return convert_value(value, blank_model_from_config(value, {}).get(), kind);
  auto* model = dynamic_cast<const Model*>(owner);
  if (name == "InputLayer") return input_layer(config);
  if (name == kActivityKeras2) return convert_value(config.at("regularizer"), nullptr, kind);
  if (model && is_sequential(name)) return keras_object("keras", name, sequential(config, *model));
  if (model && is_model && is_functional(name))
    return keras_object(kFunctionalModule, "Functional", functional(config, *model));
  if (model && is_model)
    return keras_object(module_of(kind, name), name,
                        with_class_options(functional(config, *model), config));
  if (const auto activation = activation_of_lambda(name, config))
    return keras_object("keras.layers", "Activation",
                        layer_options(kind, "Activation", *activation));
  Dict options = layer_options(kind, name, config);
  const Value build_config = take_build_config(registry().find(kind, name).get(), options);
  Dict written_object = keras_object(module_of(kind, name), name, std::move(options));
  if (!build_config.is_null()) written_object.set(kBuildConfig, build_config);
  return written_object;
}

}  // namespace

Dict function_object(const std::string& name) {
  return {{"module", "builtins"},
          {"class_name", "function"},
          {"config", name},
          {"registered_name", "function"}};
}

std::optional<Dict> activation_of_lambda(const std::string& class_name, const Dict& config) {
  const std::string* function = class_name == "Lambda" ? text_at(config, "function") : nullptr;
  const auto info = function ? registry().find("activation", *function) : nullptr;
  if (!info || is_foreign(*info)) return std::nullopt;
  Dict result;
  for (const char* option : {"name", "trainable", "dtype"})
    if (const Value* value = config.find(option)) result.set(option, *value);
  result.set("activation", *function);
  return result;
}

bool keras3_lacks(const std::string& class_name, const std::string& option) {
  return names_option(kMissingOptions, class_name, option);
}

bool keras3_refuses(const std::string& class_name, const std::string& option, const Value& value) {
  return std::any_of(
      std::begin(kRefusedValues), std::end(kRefusedValues), [&](const RefusedValue& row) {
        return class_name == row.class_name && option == row.option && row.refuses(value);
      });
}

bool names_inputs(const std::string& class_name) {
  return !named_input_indices(class_name).empty();
}

Value keras3_endpoints(const List& references, const Value* structure) {
  if (structure) return packed(*structure, references);
  return references.size() == 1 ? references.front() : Value(references);
}

bool is_unexported_in_keras3(const std::string& class_name) {
  return row_of(kUnexportedClasses, class_name) != nullptr;
}

Dict with_module(const std::string& kind, const Dict& written_object) {
  const std::string name = class_of(written_object);
  const Value module = is_sequential(name)   ? Value("keras")
                       : is_functional(name) ? Value(kFunctionalModule)
                                             : module_of(kind, name);
  return keras_object(module, name, written_object.at("config"));
}

Value keras3_model_config(const Value& model) {
  return convert_value(model, blank_model_from_config(model, {}).get(), Layer::kKind);
}

Value keras3_layer_config(const Layer& layer) {
  return convert_value(serialize(&layer), &layer, Layer::kKind);
}

}  // namespace crescent::keras

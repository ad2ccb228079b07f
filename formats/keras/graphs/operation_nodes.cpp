#include "keras/graphs/operation_nodes.h"

#include <algorithm>

#include "crescent/base/mapped.h"
#include "crescent/layer/operation.h"
#include "keras/graphs/graph_in.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

constexpr std::string_view kOpsModule = "keras.src.ops.";

std::shared_ptr<Operation> operation_of(const Dict& entry) {
  const std::string name = class_of(entry);
  if (!registry().find(Operation::kKind, name))
    fail("layer '", name_of_layer(entry), "': unknown operation '", name, "'",
         did_you_mean(name, registry().all_names(Operation::kKind)));
  return get<Operation>(Value(name));
}

/// Converts an argument of a call. Tensors are added to `inputs` and replaced by {"input": i};
/// tuples become lists.
Value argument_in(const Value& value, List& inputs) {
  return mapped(value, [&](const Value& item) -> std::optional<Value> {
    if (!is_object(item)) return std::nullopt;
    const Dict& object = item.as_dict();
    if (class_of(object) == "__tuple__") return argument_in(object.at("items"), inputs);
    const Value* history = keras_tensor_history(item);
    if (!history) return std::nullopt;
    const List& node_history = history->as_list();
    inputs.push_back(List{node_history[0], node_history[1], node_history[2], Dict()});
    return Dict{{"input", inputs.size() - 1}};
  });
}

/// Converts a slice {start, stop, step}, in which values may be missing, to the form of Keras;
/// returns nullopt for other values.
std::optional<Value> slice_out(const Value& value) {
  if (!value.is_dict() || value.as_dict().empty()) return std::nullopt;
  if (is_object(value)) return value;
  Dict config{{"start", Value()}, {"stop", Value()}, {"step", Value()}};
  for (const DictEntry& entry : value.as_dict()) {
    if (!config.contains(entry.key)) return std::nullopt;
    config.set(entry.key, entry.value);
  }
  return Dict{{"class_name", "__slice__"}, {"config", std::move(config)}};
}

/// The options of an entry except name, trainable and dtype, which all layers have.
Dict options_in(const Dict& config) {
  Dict options;
  List ignored_inputs;
  for (const DictEntry& entry : config)
    if (entry.key != "name" && entry.key != "trainable" && entry.key != "dtype")
      options.set(entry.key, argument_in(entry.value, ignored_inputs));
    else if (entry.key == "dtype" && entry.value.is_string())
      options.set(entry.key, entry.value);
  return options;
}

/// The arguments of a call by name. Positional arguments are the parameters that Keras stores with
/// the call, followed in files of earlier versions of Crescent by the other parameters.
Dict arguments_in(const Operation& operation, const Dict& node, List& inputs) {
  std::vector<const Parameter*> positional_parameters;
  for (const bool is_in_call : {true, false})
    for (const Parameter& parameter : operation.schema().signature.parameters)
      if (parameter.in_call == is_in_call) positional_parameters.push_back(&parameter);
  Dict arguments;
  const List positional = argument_in(node.at("args"), inputs).as_list();
  for (size_t i = 0; i < positional.size(); ++i) {
    if (i >= positional_parameters.size())
      fail("expected at most ", positional_parameters.size(), " arguments, got ",
           positional.size());
    if (positional_parameters[i]->variadic) {
      arguments.set(positional_parameters[i]->name,
                    List(positional.begin() + static_cast<std::ptrdiff_t>(i), positional.end()));
      break;
    }
    arguments.set(positional_parameters[i]->name, positional[i]);
  }
  const Value named_arguments = argument_in(node.at("kwargs"), inputs);
  for (const DictEntry& entry : operation.arguments({}, named_arguments.as_dict()))
    arguments.set(entry.key, entry.value);
  return arguments;
}

/// Whether an entry without a module is an operation. HDF5 files of Keras 3 lack modules, and some
/// operations have the same names as layers, but only layers have the option trainable.
bool is_bare_operation(const Dict& entry) {
  const Value* nodes = entry.find("inbound_nodes");
  const bool keras3 =
      nodes && nodes->is_list() && !nodes->as_list().empty() && nodes->as_list().front().is_dict();
  return keras3 && !config_of(entry).contains("trainable") &&
         registry().find(Operation::kKind, class_of(entry));
}

/// A class `crescent` of Crescent that Keras writes as the class `keras` with a list of this length
/// as the value of `option`.
struct ClassByLength {
  const char *crescent, *keras, *option;
  size_t length;
};
constexpr ClassByLength kClassesByLength[] = {{"ExtractPatches3D", "ExtractPatches", "size", 3}};

struct OperationParameter {
  const char *operation, *parameter;
};
/// Parameters that an operation has in Crescent and lacks in Keras.
constexpr OperationParameter kCrescentParameters[] = {{"sort", "descending"},
                                                      {"argsort", "descending"}};
/// Parameters for tensors that Keras takes as options of the operation, not as inputs of its call.
constexpr OperationParameter kTensorOptions[] = {{"trapezoid", "x"}, {"bincount", "weights"}};
/// Parameters for which null means float32 in Crescent. Keras writes "float32" instead of null.
constexpr OperationParameter kFloat32IfNull[] = {{"one_hot", "dtype"}, {"multi_hot", "dtype"}};

/// Operations of two tensors for which Keras accepts no number in place of a tensor.
constexpr const char* kOnlyTensors[] = {"append",      "bitwise_and", "bitwise_or",
                                        "bitwise_xor", "heaviside",   "hypot"};

template <size_t N>
bool has_row(const OperationParameter (&table)[N], const Operation& operation,
             const std::string& parameter) {
  return std::any_of(std::begin(table), std::end(table), [&](const OperationParameter& row) {
    return operation.name() == row.operation && parameter == row.parameter;
  });
}

bool keras_lacks(const Operation& operation, const std::string& parameter) {
  return has_row(kCrescentParameters, operation, parameter);
}

/// The number of the input that {"input": number} refers to; null for other values.
const Value* input_number(const Value& value) {
  return value.is_dict() && value.as_dict().size() == 1 ? value.as_dict().find("input") : nullptr;
}

/// Whether Keras stores a parameter with the call of the operation, not as an option of its class.
/// `value` is the parameter's value, null if the call has none.
bool is_stored_with_call(const Operation& operation, const Parameter& parameter,
                         const Value* value) {
  if (!has_row(kTensorOptions, operation, parameter.name)) return parameter.in_call;
  return value && input_number(*value);
}

/// Whether the value is a number, or a list of numbers or of such lists.
bool holds_numbers(const Value& value) {
  if (!value.is_list()) return value.is_number();
  const List& items = value.as_list();
  return !items.empty() && std::all_of(items.begin(), items.end(), holds_numbers);
}

bool has_fraction(const Value& numbers) {
  if (!numbers.is_list()) return numbers.is_float();
  const List& items = numbers.as_list();
  return std::any_of(items.begin(), items.end(), has_fraction);
}

/// Replaces lists of numbers, and numbers if `replaces_numbers` is set, in a list of inputs by
/// constant tensors. Their dtype is that of the first tensor in the list, or float32 for fractions
/// if that tensor has integers.
List with_tensors(List inputs, bool replaces_numbers) {
  const auto is_tensor = [](const Value& input) { return is_object(input); };
  const auto first_tensor = std::find_if(inputs.begin(), inputs.end(), is_tensor);
  if (first_tensor == inputs.end()) return inputs;
  const std::string dtype = config_of(first_tensor->as_dict()).at("dtype").as_string();
  for (Value& input : inputs) {
    if (!holds_numbers(input) || (input.is_number() && !replaces_numbers)) continue;
    const bool is_fraction = has_fraction(input) && dtype.find("float") == dtype.npos;
    Dict config{{"value", input}, {"dtype", is_fraction ? "float32" : dtype}};
    input = Dict{{"class_name", "__tensor__"}, {"config", std::move(config)}};
  }
  return inputs;
}

/// Replaces constant tensors by lists of their numbers, since options of operations in Keras are no
/// tensors.
Value without_tensors(const Value& option) {
  return mapped(option, [](const Value& item) -> std::optional<Value> {
    if (!is_object(item) || class_of(item.as_dict()) != "__tensor__") return std::nullopt;
    return config_of(item.as_dict()).at("value");
  });
}

/// Whether a call has a value for a parameter, other than its default.
bool is_set(const Dict& arguments, const Parameter& parameter) {
  const Value* value = arguments.find(parameter.name);
  return value && !(*value == parameter.default_value);
}

/// What Keras writes for an option that is null.
Value keras_default(const Operation& operation, const std::string& option) {
  if (option == "data_format") return "channels_last";
  return has_row(kFloat32IfNull, operation, option) ? Value("float32") : Value();
}

/// The arguments of an operation that Keras stores as options of its class, not with a call.
Dict options_out(const Operation& operation, const Dict& arguments) {
  Dict options;
  for (const Parameter& parameter : operation.schema().signature.parameters) {
    const Value* argument = arguments.find(parameter.name);
    const Value value = argument ? *argument : parameter.default_value;
    const bool is_omitted = keras_lacks(operation, parameter.name) && !is_set(arguments, parameter);
    if (is_omitted || is_stored_with_call(operation, parameter, argument)) continue;
    options.set(parameter.name, value.is_null() ? keras_default(operation, parameter.name)
                                                : without_tensors(value));
  }
  return options;
}

/// The name in Keras of an operation's class. For a class in kClassesByLength the option becomes a
/// list, by whose length Keras distinguishes the classes.
std::string keras_operation(const std::string& keras_class, Dict& config) {
  for (const ClassByLength& row : kClassesByLength) {
    if (keras_class != row.crescent) continue;
    Value& option = config[row.option];
    if (!option.is_list()) option = List(row.length, option);
    return row.keras;
  }
  return keras_class;
}

}  // namespace

bool is_operation(const Dict& entry) {
  if (class_of(entry) == kOperationLayer) return true;
  const std::string* module = text_at(entry, "module");
  if (!module) return is_bare_operation(entry);
  if (module->starts_with("keras.")) return module->starts_with(kOpsModule);
  const auto info = registry().find(Operation::kKind, class_of(entry));
  return info && get<Operation>(Value(info->name))->schema().module == *module;
}

Dict operation_in(const Dict& entry) {
  if (class_of(entry) == kOperationLayer) return entry;
  const auto operation = operation_of(entry);
  const std::string name = name_of_layer(entry);
  Dict config = options_in(config_of(entry));
  List nodes;
  std::optional<Dict> common_arguments;
  for (const Value& node : entry.at("inbound_nodes").as_list()) {
    List inputs;
    Dict arguments;
    try {
      arguments = arguments_in(*operation, node.as_dict(), inputs);
    } catch (const Error& error) {
      fail("layer '", name, "': ", error.what());
    }
    if (common_arguments && !(*common_arguments == arguments))
      fail("layer '", name, "': an operation that is called with different constants is not ",
           "supported");
    common_arguments = std::move(arguments);
    nodes.push_back(std::move(inputs));
  }
  if (common_arguments)
    for (const DictEntry& argument : *common_arguments) config.set(argument.key, argument.value);
  return {
      {"class_name", kOperationLayer},
      {"config",
       Dict{{"name", name}, {"operation", operation->name()}, {"arguments", std::move(config)}}},
      {"name", name},
      {"inbound_nodes", std::move(nodes)}};
}

Dict operation_out(const Dict& entry, const std::function<Value(const List& reference)>& tensor) {
  const Dict layer = config_of(entry);
  const auto operation = get<Operation>(layer.at("operation"));
  const Dict& arguments = layer.at("arguments").as_dict();
  const bool takes_only_tensors =
      std::count(std::begin(kOnlyTensors), std::end(kOnlyTensors), operation->name()) > 0;
  const auto& parameters = operation->schema().signature.parameters;
  const bool takes_operands =
      parameters.size() == 2 && parameters[0].name == "x1" && parameters[1].name == "x2";
  Dict config{{"name", layer.at("name")}};
  for (const DictEntry& option : options_out(*operation, arguments))
    config.set(option.key, option.value);
  List nodes;
  for (const Value& node : entry.at("inbound_nodes").as_list()) {
    const auto input = [&](const Value& value) -> std::optional<Value> {
      const Value* input_index = input_number(value);
      if (!input_index) return slice_out(value);
      return tensor(node.as_list().at(input_index->as_int()).as_list());
    };
    List args;
    Dict kwargs;
    for (const Parameter& parameter : parameters) {
      const Value* value = arguments.find(parameter.name);
      if (!is_stored_with_call(*operation, parameter, value)) continue;
      if (!value && !parameter.required && parameter.default_value.is_null())
        kwargs.set(parameter.name, Value());
      if (!value) continue;
      Value written_value = mapped(*value, input);
      if (parameter.variadic && written_value.is_dict())
        for (const DictEntry& entry : written_value.as_dict()) kwargs.set(entry.key, entry.value);
      else if (parameter.variadic)
        args.insert(args.end(), written_value.as_list().begin(), written_value.as_list().end());
      else if (parameter.required)
        args.push_back(std::move(written_value));
      else
        kwargs.set(parameter.name, std::move(written_value));
    }
    if (takes_only_tensors || takes_operands)
      args = with_tensors(std::move(args), takes_only_tensors);
    nodes.push_back(Dict{{"args", std::move(args)}, {"kwargs", std::move(kwargs)}});
  }
  const std::string class_name = keras_operation(operation->schema().keras_class, config);
  return {{"module", operation->schema().module},
          {"class_name", class_name},
          {"config", std::move(config)},
          {"registered_name", class_name},
          {"name", layer.at("name")},
          {"inbound_nodes", std::move(nodes)}};
}

std::optional<std::string> parameter_unknown_to_keras(const Dict& layer) {
  const auto operation = get<Operation>(layer.at("operation"));
  for (const Parameter& parameter : operation->schema().signature.parameters)
    if (keras_lacks(*operation, parameter.name) &&
        is_set(layer.at("arguments").as_dict(), parameter))
      return parameter.name;
  return std::nullopt;
}

bool has_operation(const Value& config) {
  bool is_found = false;
  mapped(config, [&](const Value& item) -> std::optional<Value> {
    is_found |= is_object(item) && class_of(item) == kOperationLayer;
    return std::nullopt;
  });
  return is_found;
}

}  // namespace crescent::keras
